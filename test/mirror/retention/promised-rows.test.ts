// For any rows of any age and any settings, exactly the promised rows stay. What is promised is said here once more, in
// plain code over lists (as docs/retention.md says it in words), and compared with what is left in Postgres.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Retention } from '../../../src/config/process/retention.ts';
import { sized } from '../../support/sizes.ts';
import { type AgedMirror, addChange, addRun, idsOf, makeAgedMirror, pruneNow } from './aged-mirror.ts';

const DAY = fc.integer({ min: 0, max: 40 }).map((days) => days + 0.5);
const RESOURCE = fc.constantFrom('affiliates', 'referrals', 'commissions');

const RUN = fc.record({
  days: DAY,
  resource: RESOURCE,
  mode: fc.constantFrom('full' as const, 'delta' as const),
  state: fc.constantFrom('succeeded', 'succeeded', 'partial', 'failed', 'interrupted', 'skipped'),
  code: fc.constantFrom(null, null, 'API_REJECTED'),
  /** What names it, besides a change. */
  naming: fc.constantFrom('nothing', 'nothing', 'drift', 'rejected', 'held', 'seen', 'covered'),
  rejectedDays: DAY,
});
const CHANGE = fc.record({
  days: DAY,
  table: fc.constantFrom('referrals', 'affiliates'),
  record: fc.constantFrom('r1', 'r2', 'r3'),
  after: fc.constantFrom(
    null,
    { visits: 2 },
    { conversion_state: 'lead' },
    { conversion_state: 'conversion' },
  ),
  /** The run that made it, by its place. */
  run: fc.option(fc.nat({ max: 11 })),
});
const ATTEMPT = fc.record({
  days: DAY,
  method: fc.constantFrom('GET', 'PUT'),
  endedDays: fc.option(DAY),
});
const SETTING = fc.option(fc.integer({ min: 1, max: 40 }));
const MIRROR = fc.record({
  runs: fc.array(RUN, { maxLength: 12 }).map(oldestFirst),
  changes: fc.array(CHANGE, { maxLength: 20 }).map(oldestFirst),
  attempts: fc.array(ATTEMPT, { maxLength: 5 }),
  retention: fc.record({
    history: SETTING,
    runs: SETTING,
    rejected: SETTING,
    attempts: SETTING,
    drift: SETTING,
  }),
  batchRows: fc.integer({ min: 1, max: 8 }),
});
type Mirror = typeof MIRROR extends fc.Arbitrary<infer T> ? T : never;
type Run = Mirror['runs'][number];

function oldestFirst<T extends { readonly days: number }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => b.days - a.days);
}

const isOver = (days: number, keep: number | null) => keep !== null && days > keep;
const isVerified = ({ state }: Run) => state === 'succeeded';
const isEnded = ({ state }: Run) => state === 'succeeded' || state === 'partial';
const readsAll = ({ mode, resource }: Run) => mode === 'full' || resource === 'affiliates';

/** Returns the places of what stays, by table. */
function promise({ runs, changes, attempts, retention }: Mirror) {
  const last = (resource: string, wanted: (run: Run) => boolean) =>
    runs.findLastIndex((run) => run.resource === resource && wanted(run));
  const known = (resource: string) => {
    const whole = last(resource, (run) => isVerified(run) && readsAll(run));
    const ended = last(resource, (run) => isEnded(run) && readsAll(run));
    return { whole, since: Math.min(...[whole, ended].filter((place) => place >= 0)) };
  };
  const isCurrent = (run: Run) => {
    const { since } = known(run.resource);
    // Where nothing was ever read whole, the status speaks of every run.
    return since === Number.POSITIVE_INFINITY || runs.indexOf(run) >= since;
  };
  const keptChanges = changes.filter((change, place) => {
    if (!isOver(change.days, retention.history) || change.after === null) return true;
    if (change.table === 'referrals' && 'conversion_state' in change.after) return true;
    return !changes.some(
      (later, other) =>
        other > place &&
        later.after !== null &&
        later.table === change.table &&
        later.record === change.record &&
        isOver(later.days, retention.history),
    );
  });
  const drift = runs.filter(
    (run) => run.naming === 'drift' && (!isOver(run.days, retention.drift) || isCurrent(run)),
  );
  const rejected = runs.filter(
    (run) => run.naming === 'rejected' && (!isOver(run.rejectedDays, retention.rejected) || isCurrent(run)),
  );
  // The counters of a run that ended unverified mean nothing after a day.
  const covered = runs.filter((run) => run.naming === 'covered' && (isVerified(run) || !isOver(run.days, 1)));
  const keptRuns = runs.filter((run, place) => {
    if (!isOver(run.days, retention.runs)) return true;
    if (
      ['held', 'seen'].includes(run.naming) ||
      covered.includes(run) ||
      drift.includes(run) ||
      rejected.includes(run)
    )
      return true;
    if (keptChanges.some((change) => change.run === place)) return true;
    const { whole, since } = known(run.resource);
    if (place >= since || (isEnded(run) && since === Number.POSITIVE_INFINITY)) return true;
    if (isVerified(run) && whole < 0) return true;
    return [
      isVerified,
      (one: Run) => one.state !== 'skipped',
      (one: Run) => one.mode === 'full' && isEnded(one),
      (one: Run) => one.mode === 'delta' && isEnded(one),
      (one: Run) => one.code === 'API_REJECTED',
    ].some((wanted) => last(run.resource, wanted) === place);
  });
  const keptAttempts = attempts.filter(
    ({ days, method, endedDays }) =>
      method === 'PUT' ||
      !isOver(days, retention.attempts) ||
      endedDays === null ||
      !isOver(endedDays, retention.attempts),
  );
  return {
    record_history: keptChanges.map((change) => changes.indexOf(change)),
    sync_runs: keptRuns.map((run) => runs.indexOf(run)),
    schema_drift: drift.map((run) => runs.indexOf(run)),
    rejected_records: rejected.map((run) => runs.indexOf(run)),
    covered_counters: covered.map((run) => runs.indexOf(run)),
    commission_update_attempts: keptAttempts.map((attempt) => attempts.indexOf(attempt)),
  };
}

const EMPTIED =
  'record_history, sync_runs, schema_drift, rejected_records, held_back_deletions, covered_counters, seen_rows, commission_update_attempts, pruned_tables';

async function fill({ pool }: AgedMirror, { runs, changes, attempts }: Mirror) {
  await pool.query(`truncate ${EMPTIED}`);
  const runIds: number[] = [];
  for (const { days, resource, mode, state, code, naming, rejectedDays } of runs) {
    const run = await addRun(pool, days, { resource, mode, state, ...(code && { error_code: code }) });
    runIds.push(run);
    const statement = NAMING[naming];
    if (statement !== undefined)
      await pool.query(statement, [run, resource, ...(naming === 'rejected' ? [rejectedDays] : [])]);
  }
  const changeIds: number[] = [];
  for (const { days, table, record, after, run } of changes) {
    const named = run === null ? undefined : runIds[run];
    changeIds.push(await addChange(pool, days, { table, record, after, ...(named && { run: named }) }));
  }
  const attemptIds: number[] = [];
  for (const { days, method, endedDays } of attempts) {
    const { rows } = await pool.query<{ id: number }>(
      `insert into commission_updates (commission_id, action) values (gen_random_uuid(), 'unpay') returning id`,
    );
    const request = rows[0]?.id;
    const { rows: sent } = await pool.query<{ id: number }>(
      `insert into commission_update_attempts (update_id, method, sent_at)
       values ($1, $2, now() - make_interval(secs => $3 * 86400.0)) returning id`,
      [request, method, days],
    );
    attemptIds.push(sent[0]?.id ?? -1);
    if (endedDays === null) continue;
    await pool.query(
      `update commission_updates set state = 'failed', outcome = 'no', finished_at = now() - make_interval(secs => $2 * 86400.0)
       where id = $1`,
      [request, endedDays],
    );
  }
  return { runIds, changeIds, attemptIds };
}

const NAMING: Readonly<Record<string, string | undefined>> = {
  drift: `insert into schema_drift (run_id, resource, field, kind, occurrences) values ($1, $2, 'f', 'appeared', 1)`,
  rejected: `insert into rejected_records (run_id, resource, record_id, reason, payload, observed_at)
             values ($1, $2, 'bad', 'no', '{}', now() - make_interval(secs => $3 * 86400.0))`,
  held: `insert into held_back_deletions (run_id, resource, record_id) values ($1, $2, gen_random_uuid())`,
  covered: `insert into covered_counters select 'a1', $1, 0, 0, 0 where $2::text is not null`,
  seen: `insert into seen_rows select $1, '{}', '{}', '[]' where $2::text is not null`,
};

const ran = (days: number, fields: Partial<Run> = {}): Run => ({
  ...{ days, rejectedDays: days, resource: 'referrals', mode: 'full', state: 'succeeded' },
  ...{ code: null, naming: 'nothing', ...fields },
});
const prunedOf = (...runs: readonly Run[]): [Mirror] => [
  {
    ...{ runs, changes: [], attempts: [], batchRows: 3 },
    retention: { history: 1, runs: 1, rejected: 1, attempts: 1, drift: 1 },
  },
];

/** Each reason for which a last run stays by itself. */
const LAST_RUNS = [
  prunedOf(ran(20.5, { mode: 'delta' }), ran(10.5)),
  prunedOf(ran(20.5, { state: 'failed', code: 'API_REJECTED' }), ran(10.5)),
  prunedOf(
    ran(20.5, { resource: 'affiliates' }),
    ran(15.5, { resource: 'affiliates', mode: 'delta' }),
    ran(10.5, { resource: 'affiliates', mode: 'delta' }),
  ),
  prunedOf(ran(20.5, { state: 'failed' }), ran(15.5, { state: 'failed' }), ran(10.5, { state: 'skipped' })),
  prunedOf(ran(20.5, { mode: 'delta' }), ran(15.5, { state: 'partial' }), ran(10.5, { mode: 'delta' })),
];

test('exactly the promised rows stay, and once more pruned none of them goes', async () => {
  const mirror = await makeAgedMirror();
  await fc.assert(
    fc.asyncProperty(MIRROR, async (given) => {
      const { runIds, changeIds, attemptIds } = await fill(mirror, given);
      const promised = promise(given);
      const expected = {
        record_history: promised.record_history.map((place) => changeIds[place]),
        sync_runs: promised.sync_runs.map((place) => runIds[place]),
        schema_drift: promised.schema_drift.map((place) => runIds[place]),
        rejected_records: promised.rejected_records.map((place) => runIds[place]),
        covered_counters: promised.covered_counters.map((place) => runIds[place]),
        commission_update_attempts: promised.commission_update_attempts.map((place) => attemptIds[place]),
      };
      for (const once of [1, 2]) {
        expect(await pruneNow(mirror, given.retention satisfies Retention, given.batchRows)).toBe('done');
        const left = {
          record_history: await idsOf(mirror.pool, 'record_history'),
          sync_runs: await idsOf(mirror.pool, 'sync_runs'),
          schema_drift: await idsOf(mirror.pool, 'schema_drift', 'run_id'),
          rejected_records: await idsOf(mirror.pool, 'rejected_records', 'run_id'),
          covered_counters: await idsOf(mirror.pool, 'covered_counters', 'run_id'),
          commission_update_attempts: await idsOf(mirror.pool, 'commission_update_attempts'),
        };
        expect(left, `after ${once}`).toEqual(expected);
      }
    }),
    { numRuns: sized(12, 60), examples: LAST_RUNS },
  );
});
