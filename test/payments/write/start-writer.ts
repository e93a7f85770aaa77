// A program, a mirror and a writer for a test file: the sandbox in a database of its own beside the mirror's tables.
// Import it from a test file only.

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { type ApiClient, type ApiClientOptions, makeApiClient } from '../../../src/api/client.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import type { RateLimit } from '../../../src/config/program/rate-limit.ts';
import type { OptionalList } from '../../../src/contract/optional-lists.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { type Database, makeDatabase } from '../../../src/db/database.ts';
import { type RequestedUpdate, requestUpdates } from '../../../src/payments/ask/request-updates.ts';
import { plainRequest, type UpdateRequest } from '../../../src/payments/update-request.ts';
import {
  applyUpdates,
  type WriterOptions,
  type WriterSummary,
} from '../../../src/payments/write/apply-updates.ts';
import { NO_FAULTS } from '../../../src/sandbox/fault-plan.ts';
import type { ReceivedRequest } from '../../../src/sandbox/received-requests.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { runSync } from '../../../src/sync/run-sync.ts';
import { startAlteringProxy } from '../../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

export const SECRET = 'writer-secret';
export const PAID_AT = '2026-10-05T12:00:00Z';
export const silent = pino({ level: 'silent' });

/** What the program has of a commission, read from its own table. */
export interface ProgramRow {
  readonly id: string;
  readonly paid_at: string | null;
  readonly due_at: string;
  readonly amount: number;
  readonly currency: string;
  readonly voided_at: string | null;
}

export interface TestWriter {
  readonly database: TestDatabase;
  readonly db: Database;
  readonly sandbox: Sandbox;
  readonly api: ApiClient;
  /** Unpaid, not voided, a different one at each call. */
  fresh(): Promise<ProgramRow>;
  freshMany(count: number): Promise<ProgramRow[]>;
  program(id: string): Promise<ProgramRow>;
  ask(
    ...requests: (Partial<UpdateRequest> & Pick<UpdateRequest, 'commission_id' | 'action'>)[]
  ): Promise<RequestedUpdate[]>;
  /** Asks for a payment of each, at PAID_AT. */
  askToPay(commissions: readonly { readonly id: string }[]): Promise<RequestedUpdate[]>;
  /** Through the writer's own api where none is given. */
  drain(options?: Partial<WriterOptions> & { api?: ApiClient }): Promise<WriterSummary>;
  row(id: number | undefined): Promise<UpdateRow>;
  attempts(id: number | undefined): Promise<AttemptRow[]>;
  /** Requests that came in since the test began. */
  received(method?: 'GET' | 'PUT'): readonly ReceivedRequest[];
}

export interface UpdateRow {
  readonly id: number;
  readonly commission_id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly note: string | null;
  readonly before: { paid_at: string | null; due_at: string | null; amount: number; currency: string } | null;
  readonly after: { paid_at: string | null; due_at: string | null } | null;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly put_sent_at: string | null;
  readonly claimed_by: string | null;
  readonly next_attempt_at: string;
  readonly requested_by: string;
  readonly finished_at: string | null;
}

export interface AttemptRow {
  readonly method: 'GET' | 'PUT';
  readonly status: number | null;
  readonly error_code: string | null;
  readonly error: string | null;
  readonly sent: string | null;
  readonly received: { paid_at: string | null } | null;
  readonly duration_ms: number | null;
}

/** A limit that no test reaches, with a window that makes a 429 without headers a short pause. */
const PLENTY: RateLimit = { requests: 100_000, windowSeconds: 0.1 };

/** Returns the api of a writer whose waits between attempts are short. */
export function makeTestApi(
  db: Database,
  url: string,
  options: Partial<ApiClientOptions> & { rateLimit?: RateLimit } = {},
): ApiClient {
  const { rateLimit = PLENTY, ...client } = options;
  const timeoutMs = client.timeoutMs ?? 20_000;
  const takePermit = makeTakePermit(
    { db, log: silent },
    { rateLimit, priority: 'payments', requestTimeoutMs: timeoutMs },
  );
  return makeApiClient(
    { takePermit, log: silent },
    {
      url,
      secret: SECRET,
      timeoutMs,
      attempts: { firstWaitMs: 1, longestWaitMs: 5 },
      ...client,
    },
  );
}

/** Returns the api of a writer whose program's answers are altered (see startAlteringProxy). It ends with the test. */
export async function makeAlteredApi(
  { db, sandbox }: Pick<TestWriter, 'db' | 'sandbox'>,
  alter: Parameters<typeof startAlteringProxy>[1],
): Promise<ApiClient> {
  const proxy = await startAlteringProxy(sandbox.url, alter);
  const api = makeTestApi(db, proxy.url);
  onTestFinished(async () => {
    await api.close();
    await proxy.close();
  });
  return api;
}

/**
 * Returns the api of a front end that loses the program for a while: it answers 404 to everything, from one of the
 * calls to another, as numbered from 1.
 */
export function losingProgram(db: Database, url: string, lost: { from: number; to: number }) {
  const there = makeTestApi(db, url);
  const away = makeTestApi(db, `${url}/elsewhere`);
  const answering: Promise<unknown>[] = [];
  let calls = 0;
  // Which of two calls at once is asked first, their permits decide. So the program is lost once all that was asked of it
  // before is answered: else an answer from before could look like one from after.
  async function ask<T>(call: (api: ApiClient) => Promise<T>): Promise<T> {
    calls += 1;
    if (calls >= lost.from && calls <= lost.to) {
      await Promise.allSettled(answering);
      return call(away);
    }
    const answer = call(there);
    if (calls < lost.from) answering.push(answer);
    return answer;
  }
  const api: ApiClient = {
    list: (...given) => ask((program) => program.list(...given)),
    getCommission: (...given) => ask((program) => program.getCommission(...given)),
    putCommission: (...given) => ask((program) => program.putCommission(...given)),
    getPayout: (...given) => ask((program) => program.getPayout(...given)),
    payPayout: (...given) => ask((program) => program.payPayout(...given)),
    renewals: there.renewals,
    close: there.close,
  };
  const close = () => Promise.all([there.close(), away.close()]);
  return { api, close };
}

/** Returns how many connections to the database sleep, as a trigger of a test has them do. */
export async function countAsleep(pool: TestDatabase['pool']): Promise<number> {
  const { rows } = await pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return rows.length;
}

/** Returns the file's writer, once it is there; every test finds the program without faults. */
export function useWriter(
  size = { affiliates: 20, referrals: 800 },
  optionalLists: readonly OptionalList[] = [],
): () => TestWriter {
  let started: TestWriter | undefined;
  let before = 0;
  const current = () => {
    if (started === undefined) throw new Error('the writer has not started');
    return started;
  };
  beforeAll(async () => {
    const database = await createTestDatabase();
    const pool = makePool(
      { log: silent },
      { url: database.url, schema: 'mirror', max: 20, applicationName: 'writer' },
    );
    const db = makeDatabase(pool);
    const sandbox = await startSandbox(
      { pool: database.pool, log: silent },
      {
        schema: 'program',
        host: '127.0.0.1',
        port: 0,
        secret: SECRET,
        seed: 5,
        ...size,
        optionalLists,
        rateLimit: null,
        faults: NO_FAULTS,
        live: null,
        reset: false,
      },
    );
    const api = makeTestApi(db, sandbox.url);
    // Then each payment finds the account's evidence in the affiliate that its commission names.
    await runSync({ api, db, log: silent }, { resource: 'affiliates', mode: 'full', acceptDeletes: false });
    const columns = `id, to_char(paid_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as paid_at,
      to_char(due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at, amount, currency, voided_at`;
    const taken = new Set<string>();
    const freshMany = async (count: number) => {
      const { rows } = await database.pool.query<ProgramRow>(
        `select ${columns} from program.commissions
         where paid_at is null and voided_at is null and id <> all($1) order by id limit $2`,
        [[...taken], count],
      );
      if (rows.length < count) throw new Error(`the program has no ${count} unpaid commissions left`);
      for (const { id } of rows) taken.add(id);
      return rows;
    };
    const ask: TestWriter['ask'] = (...requests) =>
      requestUpdates({ db }, requests.map(plainRequest), { batchId: null, requestedBy: 'finance' });
    started = {
      database,
      db,
      sandbox,
      api,
      freshMany,
      async fresh() {
        const [row] = await freshMany(1);
        if (row === undefined) throw new Error('no commission');
        return row;
      },
      async program(id) {
        const { rows } = await database.pool.query<ProgramRow>(
          `select ${columns} from program.commissions where id = $1`,
          [id],
        );
        if (rows[0] === undefined) throw new Error(`the program has no commission ${id}`);
        return rows[0];
      },
      ask,
      askToPay: (commissions) =>
        ask(
          ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
        ),
      drain: ({ api: through = api, ...options } = {}) =>
        applyUpdates(
          { api: through, db, log: silent },
          {
            concurrency: 4,
            signal: AbortSignal.timeout(100_000),
            ...options,
            timing: { claimMs: 5000, firstBackoffMs: 1, ...options.timing },
          },
        ),
      async row(id) {
        const { rows } = await pool.query<UpdateRow>('select * from commission_updates where id = $1', [id]);
        if (rows[0] === undefined) throw new Error(`no request ${id}`);
        return rows[0];
      },
      async attempts(id) {
        const { rows } = await pool.query<AttemptRow>(
          'select * from commission_update_attempts where update_id = $1 order by sent_at, id',
          [id],
        );
        return rows;
      },
      received: (method) =>
        sandbox.requests.filter(
          (request) => request.number > before && (method === undefined || request.method === method),
        ),
    };
  });
  beforeEach(() => {
    const { sandbox } = current();
    sandbox.setFaults(NO_FAULTS);
    sandbox.setRateLimit(null);
    before = sandbox.requests.at(-1)?.number ?? 0;
  });
  afterAll(async () => {
    await started?.api.close();
    await started?.sandbox.close();
    await started?.db.destroy();
  });
  return current;
}
