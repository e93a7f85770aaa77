// A sync that is killed or stopped at any of its statements and requests: it leaves all of a batch behind or nothing,
// and the next run makes the mirror equal to the program. One that wakes after that changes nothing.

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
import { useSyncing } from '../sync/syncing.ts';
import { SIGNALS, someOfAll, startWorking } from './interruptions.ts';

type Row = Readonly<Record<string, unknown>>;

/** Of the list, newest first: changes on every page of a hundred, so that every batch has something to lose. */
const CHANGED_PLACES = [20, 130, 240];
const FIRST_MARK = 10_000_000;

interface Subject {
  readonly resource: 'referrals' | 'commissions';
  /** The column that shows the changes. */
  readonly column: 'visits' | 'amount';
  readonly program: Partial<SandboxOptions>;
  list(sandbox: TestSandbox): Promise<readonly { id: string }[]>;
  insert(sandbox: TestSandbox, referralId: string): Promise<unknown>;
  update(sandbox: TestSandbox, id: string, mark: number): Promise<unknown>;
  remove(sandbox: TestSandbox, id: string): Promise<unknown>;
}

const REFERRALS: Subject = {
  resource: 'referrals',
  column: 'visits',
  program: { affiliates: 8, referrals: 260 },
  list: (sandbox) => sandbox.allReferrals(),
  insert: ({ program }) => program.insertReferral(),
  update: ({ program }, id, visits) => program.updateReferral(id, { visits }),
  remove: ({ program }, id) => program.deleteReferral(id),
};

const COMMISSIONS: Subject = {
  resource: 'commissions',
  column: 'amount',
  program: { affiliates: 8, referrals: 700, optionalLists: ['commissions'] },
  list: (sandbox) => sandbox.allCommissions(),
  insert: ({ program }, referralId) => program.insertSale(referralId),
  update: ({ program }, id, amount) => program.updateCommission(id, { amount }),
  remove: ({ program }, id) => program.deleteCommission(id),
};

/** Where it is interrupted: many missing rows are looked for by a second walk. */
const ANYWHERE = { where: 'anywhere', deletions: 1 };
const IN_SECOND_WALK = {
  where: 'in the second walk',
  deletions: 12,
  from: '"checkpoint" = $1, "distinct_seen"',
};

const PLACES = sized(
  [{ ...ANYWHERE, subject: REFERRALS }],
  [REFERRALS, COMMISSIONS].flatMap((subject) => [
    { ...ANYWHERE, subject },
    { ...IN_SECOND_WALK, subject },
  ]),
);
const STEP = sized(80, 60);
/** A number of its own for the changes of each round, so that what one of them left is not taken for another's. */
let mark = FIRST_MARK;

describe.each(PLACES)('a sync of $subject.resource that is interrupted $where', (place) => {
  const { subject, deletions } = place;
  const given = useSyncing(subject.program);
  beforeAll(() => given().syncBoth());

  async function select<T = Row>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await given().database.pool.query(sql, [...values])).rows as T[];
  }

  /** The program moves on: one record updated on every page, and so many deleted. */
  async function changeProgram() {
    const { sandbox, sync } = given();
    mark += 1;
    const [sold] = await select<{ referral_id: string }>('select referral_id from sandbox.sales limit 1');
    for (let index = 0; index < deletions; index += 1) await subject.insert(sandbox, sold?.referral_id ?? '');
    await sync(subject.resource, { acceptDeletes: true });
    const [last] = await select<{ id: number }>('select coalesce(max(id), 0) as id from record_history');
    const before = (await subject.list(sandbox)).map(({ id }) => id);
    const deleted = before.slice(0, deletions);
    for (const id of deleted) await subject.remove(sandbox, id);
    const list = before.slice(deletions);
    const updated = CHANGED_PLACES.map((at) => list[at] ?? '');
    for (const id of updated) await subject.update(sandbox, id, mark);
    return { list, updated, deleted, lastHistoryId: last?.id ?? 0 };
  }
  type Changes = Awaited<ReturnType<typeof changeProgram>>;

  const historyOf = async (change: string, { lastHistoryId }: Changes) =>
    (
      await select<{ record_id: string }>(
        `select record_id from record_history where table_name = $3 and change = $1 and id > $2`,
        [change, lastHistoryId, subject.resource],
      )
    ).map(({ record_id }) => record_id);

  /** Rows, history, seen rows, figures and checkpoint agree on which records were loaded. */
  async function expectAgreement(changes: Changes): Promise<void> {
    const ids = async (sql: string, values: unknown[] = []) =>
      (await select<{ id: string }>(sql, values)).map(({ id }) => id);
    const [run] = await select<SyncRun>('select * from sync_runs order by id desc limit 1');
    const seen = await ids(
      `select id from seen_rows cross join unnest(row_numbers) as number
       join ${subject.resource} on _row_number = number`,
    );
    const written = await ids(`select id from ${subject.resource} where ${subject.column} = $1`, [mark]);
    const marked = await ids(
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

  /** The mirror equals the program, each change is one of the history, and nothing of a run is left. */
  async function expectMirrored(changes: Changes): Promise<void> {
    const { sandbox, database } = given();
    const [mirror, program] =
      subject === REFERRALS
        ? [(await readMirror(database.pool)).referrals, (await readProgram(sandbox)).referrals]
        : [await readMirrorEarnings(database.pool), await readProgramEarnings(sandbox)];
    expect(mirror).toEqual(program);
    expect((await historyOf('updated', changes)).sort()).toEqual([...changes.updated].sort());
    expect((await historyOf('deleted', changes)).sort()).toEqual([...changes.deleted].sort());
    expect(await select(`select from sync_runs where state = 'running'`)).toEqual([]);
    expect(await select('select from seen_rows')).toEqual([]);
  }

  /** Of this file's process; other files have such processes too, in other databases of the same server. */
  const CONNECTIONS = `from pg_stat_activity where application_name = 'working' and datname = current_database()`;

  test.each(SIGNALS)('leaves all of a batch or nothing, and the next run finishes: %s', async (signal) => {
    const { database, sandbox, sync } = given();
    for (const point of someOfAll(STEP)) {
      const changes = await changeProgram();
      const working = startWorking({
        databaseUrl: database.url,
        apiUrl: sandbox.url,
        secret: SECRET,
        timeoutMs: 60_000,
        rateLimit: null,
        work: { kind: 'sync', resource: subject.resource },
        interruption: { signal, point, ...('from' in place && { from: place.from }) },
      });
      const isInterrupted = await working.interrupted();
      // Postgres itself ends the connections of a killed process, and after a while those of a stopped one.
      await expect
        .poll(() => select(`select pg_terminate_backend(pid) ${CONNECTIONS}`), { interval: 5 })
        .toEqual([]);
      await expectAgreement(changes);
      expect(await sync(subject.resource, { acceptDeletes: true })).toMatchObject({
        state: 'succeeded',
        verified: true,
      });
      await expectMirrored(changes);
      if (!isInterrupted) {
        expect(await working.ended).toEqual({ code: 0, signal: null });
        expect(point).toBeGreaterThan(30);
        return;
      }
      working.resume();
      await working.ended;
      await expectMirrored(changes);
    }
  });
});
