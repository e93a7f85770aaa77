// A sync that ends after any statement that it sends to Postgres: what it leaves behind is all of a batch or nothing of
// it, and the next run makes the mirror equal to the program.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SyncRun } from '../../src/mirror/runs/sync-runs.ts';
import type { SandboxOptions } from '../../src/sandbox/start-sandbox.ts';
import { SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import {
  readMirror,
  readMirrorEarnings,
  readProgram,
  readProgramEarnings,
} from '../support/compare-with-program.ts';
import { sized } from '../support/sizes.ts';
import { type Syncing, useSyncing } from '../sync/syncing.ts';
import { type Fault, syncUntilFault } from './sync-until-fault.ts';

const PROCESS = fileURLToPath(new URL('sync-until-killed.ts', import.meta.url));
const APPLICATION = 'killed-sync';
/** Other test files have syncs of that name too, in other databases of the same server. */
const ITS_CONNECTIONS = 'from pg_stat_activity where application_name = $1 and datname = current_database()';
/** Of the list, newest first: changes on every page of a hundred, so that every batch has something to lose. */
const CHANGED_PLACES = [20, 130, 240];
/** A number of its own for the changes of each round, so that what one of them left is not taken for another's. */
let round = 0;
const FIRST_MARK = 10_000_000;
const mark = () => FIRST_MARK + round;

/** What is synced, how the program changes it, and the column that its changes are counted by. */
export interface Subject {
  readonly resource: 'referrals' | 'commissions';
  readonly column: 'visits' | 'amount';
  readonly program: Partial<SandboxOptions>;
  list(sandbox: TestSandbox): Promise<readonly { id: string }[]>;
  insert(sandbox: TestSandbox): Promise<unknown>;
  update(sandbox: TestSandbox, id: string): Promise<unknown>;
  remove(sandbox: TestSandbox, id: string): Promise<unknown>;
  compare(sandbox: TestSandbox): Promise<{ mirror: unknown; program: unknown }>;
}

export const REFERRALS: Subject = {
  resource: 'referrals',
  column: 'visits',
  program: { affiliates: 8, referrals: 260 },
  list: (sandbox) => sandbox.allReferrals(),
  insert: ({ program }) => program.insertReferral(),
  update: ({ program }, id) => program.updateReferral(id, { visits: mark() }),
  remove: ({ program }, id) => program.deleteReferral(id),
  compare: async (sandbox) => ({
    mirror: (await readMirror(given().database.pool)).referrals,
    program: (await readProgram(sandbox)).referrals,
  }),
};

export const COMMISSIONS: Subject = {
  resource: 'commissions',
  column: 'amount',
  program: { affiliates: 8, referrals: 700, optionalLists: ['commissions'] },
  list: (sandbox) => sandbox.allCommissions(),
  insert: async ({ program }) => {
    const [sold] = await select<{ referral_id: string }>('select referral_id from sandbox.sales limit 1');
    return program.insertSale(sold?.referral_id ?? '');
  },
  update: ({ program }, id) => program.updateCommission(id, { amount: mark() }),
  remove: ({ program }, id) => program.deleteCommission(id),
  compare: async (sandbox) => ({
    mirror: await readMirrorEarnings(given().database.pool),
    program: await readProgramEarnings(sandbox),
  }),
};

/** Of the syncs that are under way. */
let subject: Subject;
let given: () => Syncing;

type Row = Readonly<Record<string, unknown>>;

async function select<T = Row>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
  return (await given().database.pool.query(sql, [...values])).rows as T[];
}

/** How a sync ends at a statement: either is passed the statement's number, and returns false where there is none. */
const FAULTS = {
  'a process that is killed': async (fault: Fault) => {
    const child = spawn(process.execPath, [PROCESS, JSON.stringify(fault)], { stdio: 'inherit' });
    const [code, signal] = await once(child, 'close');
    if (signal !== 'SIGKILL') expect([code, signal]).toEqual([0, null]);
    return signal === 'SIGKILL';
  },
  'connections that break': (fault: Fault) =>
    syncUntilFault(fault, async () => {
      await select(`select pg_terminate_backend(pid) ${ITS_CONNECTIONS}`, [APPLICATION]);
    }),
};

async function syncUntil(how: keyof typeof FAULTS, endAfter: number, countFrom: string): Promise<boolean> {
  const { database, sandbox } = given();
  const fault: Fault = {
    databaseUrl: database.url,
    apiUrl: sandbox.url,
    secret: SECRET,
    resource: subject.resource,
    applicationName: APPLICATION,
    endAfter,
    countFrom,
  };
  const hasEnded = await FAULTS[how](fault);
  // Postgres has noticed: its transaction is undone, its lock is free.
  await expect.poll(() => select(`select ${ITS_CONNECTIONS}`, [APPLICATION]), { interval: 5 }).toEqual([]);
  return hasEnded;
}

interface Changes {
  readonly list: readonly string[];
  readonly updated: readonly string[];
  readonly deleted: readonly string[];
  readonly lastHistoryId: number;
}

/** The program moves on: one record updated on every page, and so many deleted. */
async function changeProgram(deletions: number): Promise<Changes> {
  const { sandbox, sync } = given();
  for (let index = 0; index < deletions; index += 1) await subject.insert(sandbox);
  await sync(subject.resource, { acceptDeletes: true });
  const [last] = await select<{ id: number }>('select coalesce(max(id), 0) as id from record_history');
  const before = (await subject.list(sandbox)).map(({ id }) => id);
  const deleted = before.slice(0, deletions);
  for (const id of deleted) await subject.remove(sandbox, id);
  const list = before.slice(deletions);
  const updated = CHANGED_PLACES.map((place) => list[place] ?? '');
  for (const id of updated) await subject.update(sandbox, id);
  return { list, updated, deleted, lastHistoryId: last?.id ?? 0 };
}

const historyOf = async (change: string, { lastHistoryId }: Changes) =>
  (
    await select<{ record_id: string }>(
      `select record_id from record_history where table_name = $3 and change = $1 and id > $2`,
      [change, lastHistoryId, subject.resource],
    )
  ).map(({ record_id }) => record_id);

/** Rows, history, seen rows, figures and checkpoint agree on which records were loaded. */
async function expectAgreement(changes: Changes): Promise<void> {
  const [run] = await select<SyncRun>('select * from sync_runs order by id desc limit 1');
  const seen = (
    await select<{ id: string }>(
      `select id from seen_rows cross join unnest(row_numbers) as number
         join ${subject.resource} on _row_number = number`,
    )
  ).map(({ id }) => id);
  const written = (
    await select<{ id: string }>(`select id from ${subject.resource} where ${subject.column} = $1`, [mark()])
  ).map(({ id }) => id);
  const marked = await select<{ id: string }>(
    `select id from ${subject.resource} where id = any($1) and _deleted_at is not null`,
    [changes.deleted],
  );
  expect(new Set(await historyOf('updated', changes))).toEqual(new Set(written));
  expect(await historyOf('deleted', changes)).toHaveLength(marked.length);
  if (run?.state === 'running') {
    expect(marked).toEqual([]);
    expect(seen).toHaveLength(run.distinct_seen);
    const checkpoint = run.checkpoint as { walk: string; covered: number; end: number } | null;
    const covered = checkpoint?.walk === 'overlap' ? checkpoint.end : (checkpoint?.covered ?? 0);
    expect(new Set(seen)).toEqual(new Set(changes.list.slice(0, covered)));
    // A second reading sees nothing that the first one has not written.
    const isSecond = run.rows_repeated > run.distinct_seen;
    if (!isSecond)
      expect(new Set(written)).toEqual(new Set(changes.updated.filter((id) => seen.includes(id))));
    expect(run.rows_updated).toBe(written.length);
  } else {
    expect(seen).toEqual([]);
    const isNew = written.length > 0;
    expect(marked).toHaveLength(isNew ? changes.deleted.length : 0);
    if (isNew) expect(run).toMatchObject({ state: 'succeeded', rows_deleted: changes.deleted.length });
  }
}

async function expectNextRunToFinish(changes: Changes): Promise<void> {
  const { sync, sandbox } = given();
  expect(await sync(subject.resource, { acceptDeletes: true })).toMatchObject({
    state: 'succeeded',
    verified: true,
  });
  const { mirror, program } = await subject.compare(sandbox);
  expect(mirror).toEqual(program);
  expect((await historyOf('updated', changes)).sort()).toEqual([...changes.updated].sort());
  expect((await historyOf('deleted', changes)).sort()).toEqual([...changes.deleted].sort());
  expect(await select(`select from sync_runs where state = 'running'`)).toEqual([]);
  expect(await select('select from seen_rows')).toEqual([]);
}

/** Where in a sync it ends. */
export interface Ends {
  readonly what: string;
  readonly deletions: number;
  /** Statements count from the first one that contains this. */
  readonly countFrom: string;
  /** So many statements there are at least. */
  readonly least: number;
}

export const AFTER_ANY: Ends = {
  what: 'after any of its statements',
  deletions: 1,
  countFrom: '',
  least: 45,
};
export const IN_SECOND_WALK: Ends = {
  what: 'after any statement of the second walk, where many rows are missing',
  deletions: 12,
  countFrom: '"checkpoint" = $1, "distinct_seen"',
  least: 30,
};

/** A process takes three times as long as a connection; both end at the same places. */
const steps = sized({ broken: 31, killed: 67 }, { broken: 10, killed: 30 });

/** Describes what syncs of the subject leave behind that end there. */
export function describeKilledSyncs(of: Subject, { what, deletions, countFrom, least }: Ends): void {
  describe(`a sync of ${of.resource} that ends ${what}`, () => {
    const syncing = useSyncing(of.program);
    beforeAll(async () => {
      subject = of;
      given = syncing;
      await given().syncBoth();
    });

    test.each([
      { how: 'connections that break', step: steps.broken },
      { how: 'a process that is killed', step: steps.killed },
    ] as const)(
      'leaves all of a batch or nothing, and the next run finishes: $how',
      async ({ how, step }) => {
        // Which ones a few runs do not meet, others do.
        let endAfter = 1 + Math.floor(Math.random() * step);
        for (let hasEnded = true; hasEnded; endAfter += step) {
          round += 1;
          const changes = await changeProgram(deletions);
          hasEnded = await syncUntil(how, endAfter, countFrom);
          await expectAgreement(changes);
          await expectNextRunToFinish(changes);
        }
        expect(endAfter).toBeGreaterThan(least);
      },
    );
  });
}
