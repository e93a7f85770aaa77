// A program in which everything that says something about a person carries a mark, in fields that the contract knows,
// in others, in records that are refused, and in what it answers to a wrong request; and a search for that mark through
// everything that the mirror holds.

import { createSecretKey } from 'node:crypto';
import { pino } from 'pino';
import { beforeAll, expect } from 'vitest';
import { type ApiClient, makeApiClient } from '../../../src/api/client.ts';
import type { PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { OPTIONAL_LISTS } from '../../../src/contract/optional-lists.ts';
import { LISTED_RESOURCES } from '../../../src/contract/resources.ts';
import type { Database } from '../../../src/db/database.ts';
import { makeTreatment } from '../../../src/mirror/people/make-treatment.ts';
import { requestUpdates } from '../../../src/payments/ask/request-updates.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../../src/payments/poll/tracked-commissions.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import type { SyncMode } from '../../../src/sync/run-summary.ts';
import { runSync } from '../../../src/sync/run-sync.ts';
import { runSandbox, SECRET, type TestSandbox } from '../../sandbox/running-sandbox.ts';
import { afterFile } from '../../support/after-file.ts';
import { startAlteringProxy } from '../../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { makeUnlimitedPermits } from '../../support/unlimited-permits.ts';

/** Occurs nowhere by chance; lower case, since addresses are compared so. */
export const MARK = 'zq7xmark';

export const PLAIN: PersonalDataSettings = { mode: 'plain', key: null };
export const HASH: PersonalDataSettings = { mode: 'hash', key: createSecretKey(Buffer.alloc(32, 'a key ')) };
export const OMIT: PersonalDataSettings = { mode: 'omit', key: null };

export interface MarkedProgram {
  readonly database: TestDatabase;
  readonly db: Database;
  readonly sandbox: TestSandbox;
  /** Affiliates, referrals and commissions; returns the states of the runs. */
  syncAll(settings: PersonalDataSettings, mode?: SyncMode): Promise<string[]>;
  /** Marks one commission paid, asks for one that is not there, and polls both. */
  pay(settings: PersonalDataSettings): Promise<void>;
  /** Gives every person another name and address, marked as well. */
  change(): Promise<void>;
}

/** Registers a program and an empty mirror for the test file. */
export function useMarkedProgram(): () => MarkedProgram {
  let marked: MarkedProgram | undefined;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const sandbox = await runSandbox(database.pool, {
      affiliates: 12,
      referrals: 150,
      optionalLists: OPTIONAL_LISTS,
      spelling: 'live',
    });
    const proxy = await startAlteringProxy(sandbox.url, addStrangeFields);
    const clients: ApiClient[] = [];
    afterFile(async () => {
      for (const client of clients) await client.close();
      await proxy.close();
    });
    const log = pino({ level: 'silent' });
    const { db } = database;
    const open = (settings: PersonalDataSettings) => {
      const api = makeApiClient(
        { takePermit: makeUnlimitedPermits().takePermit, log },
        {
          url: proxy.url,
          secret: SECRET,
          timeoutMs: 5000,
          attempts: { firstWaitMs: 0 },
        },
      );
      clients.push(api);
      return { api, db, log, treatment: makeTreatment(settings) };
    };
    marked = {
      database,
      db,
      sandbox,
      async syncAll(settings, mode = 'full') {
        const deps = open(settings);
        const states: string[] = [];
        for (const resource of LISTED_RESOURCES) {
          const run = await runSync(deps, { resource, mode, acceptDeletes: false });
          states.push(run.state);
        }
        return states;
      },
      async pay(settings) {
        const deps = open(settings);
        const { rows } = await database.pool.query<{ id: string }>(
          'select id from sandbox.commissions where paid_at is null and voided_at is null order by id limit 1',
        );
        const ids = [rows[0]?.id ?? '', '00000000-0000-4000-8000-000000000001'];
        const requests = ids.map((commission_id) =>
          plainRequest({ commission_id, action: 'pay', paid_at: '2026-10-05T12:00:00Z' }),
        );
        await requestUpdates({ db }, requests, { batchId: null, requestedBy: 'finance' });
        const signal = AbortSignal.timeout(100_000);
        await applyUpdates(deps, { concurrency: 1, signal });
        await trackCommissions(db, ids, 'finance');
        await database.pool.query('update tracked_commissions set next_poll_at = now()');
        await pollTracked({ ...deps, client: deps.api }, { signal });
      },
      change: () => mark(database, 'new'),
    };
    await mark(database, 'first');
  });
  return () => {
    if (marked === undefined) throw new Error('the program has not started');
    return marked;
  };
}

async function mark({ pool }: TestDatabase, word: string): Promise<void> {
  const marked = `'${MARK}-${word}-'`;
  await pool.query(`
    update sandbox.affiliates set updated_at = now(), visitors = visitors + 1,
      first_name = ${marked} || first_name, last_name = ${marked} || last_name, email = ${marked} || email,
      payout_email = ${marked} || payout_email, unconfirmed_email = ${marked} || 'later-' || email;
    update sandbox.links set url = url || ${marked}, token = ${marked} || token;
    update sandbox.referrals set updated_at = now(), customer_name = ${marked} || customer_name,
      customer_email = ${marked} || customer_email`);
}

type Json = Record<string, unknown>;

function addStrangeFields(body: string): string {
  const answer = JSON.parse(body) as Json;
  if (typeof answer['error'] === 'string') return JSON.stringify({ error: `${MARK} ${answer['error']}` });
  if (!Array.isArray(answer['data'])) return JSON.stringify(addTo(answer));
  const data = answer['data'].map((record) => addTo(record as Json));
  const [first, second] = data;
  // One that is refused, and one that is refused and has no identifier.
  if (first !== undefined && 'email' in first) first['email'] = { was: `${MARK}@example.com` };
  if (second !== undefined && 'visits' in second) Object.assign(second, { id: MARK, visits: MARK });
  return JSON.stringify({ ...answer, data });
}

function addTo(record: Json): Json {
  const added: Json = { ...record, nickname: `${MARK} nick`, attributes: { [`${MARK}@example.com`]: 1 } };
  for (const field of ['customer', 'affiliate', 'sale', 'referral', 'coupon', 'commission_stats']) {
    const inner = added[field];
    if (inner !== null && typeof inner === 'object') added[field] = addTo(inner as Json);
  }
  return added;
}

/** Returns the tables of the mirror, and the columns of the planner's statistics, in which the text is found. */
export async function findText({ pool }: TestDatabase, text: string): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'mirror'::regnamespace and relkind = 'r' order by relname`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await pool.query(
      `select from mirror.${name} as line where position($1 in lower(line::text)) > 0`,
      [text.toLowerCase()],
    );
    if (rowCount !== 0) found.push(name);
  }
  expect(tables.length).toBeGreaterThan(15);
  const statistics = await pool.query<{ name: string }>(
    `select tablename || '.' || attname || ' (statistics)' as name from pg_stats
     where schemaname = 'mirror' and position($1 in lower(concat_ws(' ', most_common_vals::text, histogram_bounds::text))) > 0`,
    [text.toLowerCase()],
  );
  return [...found, ...statistics.rows.map((row) => row.name)];
}
