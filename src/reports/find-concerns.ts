// Judges whether all is well, from the figures. The only such judgement: status, status page, metrics and alerts show
// it. Pure.

import { z } from 'zod';
import { counted, formatCount } from '../contract/format.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { adviseFor, CONCERN_CODES, type ConcernCode, fixFailedSync, ifItStays } from './concern-advice.ts';
import { resource, text, timestamp } from './fields.ts';
import type { ResourceStatus } from './read-freshness.ts';
import { isSilent } from './read-freshness.ts';
import type { Growth } from './read-growth.ts';
import type { MirrorHealth } from './read-health.ts';

export const concern = z.object({
  code: z.enum(CONCERN_CODES).describe('stable name of what is wrong'),
  resource: resource.nullable(),
  what: text("what is wrong; if an error caused it, it ends with the error's message"),
  summary: text('the same without the error, whose message may name a person'),
  error_code: text('stable code of the error that caused it').nullable(),
  since: timestamp('since when').nullable(),
  fix: text('the command to run, which fixes it or says more'),
  if_it_stays: text('what to do if that does not end it'),
});

export type Concern = z.infer<typeof concern>;

/** Time to order a larger disk, or to decide what need not be kept. */
const FILLING_DAYS = 30;

/**
 * Returns the concerns, the most serious first; none if all is well.
 *
 * Units: `maxAgeSeconds` is the age from which a resource is stale. Without `growth` the disk is not judged. The
 * commands name the `program`, unless the environment describes it.
 */
export function findConcerns(
  status: MirrorHealth,
  {
    maxAgeSeconds,
    growth,
    program = null,
  }: { maxAgeSeconds: number; growth?: Growth; program?: string | null },
): readonly Concern[] {
  const concerns = [
    ...judgePause(status, program),
    ...status.resources.flatMap((resource) => [
      ...judgeLastRun(resource, status.budget.last_throttled_at),
      ...judgeHeldBack(resource),
      ...judgeRejected(resource),
    ]),
    ...judgeAges(status, maxAgeSeconds),
    ...judgePayments(status),
    ...judgeSums(status),
    ...judgeBooks(status),
    ...judgeBudget(status),
    ...(growth === undefined ? [] : judgeDisk(growth)),
  ];
  return concerns
    .map((one) => (program === null ? one : adviseFor(program, one)))
    .toSorted((a, b) => CONCERN_CODES.indexOf(a.code) - CONCERN_CODES.indexOf(b.code));
}

export function isStale({ changes_age_seconds }: ResourceStatus, maxAgeSeconds: number): boolean {
  return changes_age_seconds === null || changes_age_seconds > maxAgeSeconds;
}

function judgePause(
  { worker: { secret_refused_since, program_changed_since } }: MirrorHealth,
  program: string | null,
): Concern[] {
  const paused = program === null ? 'all workers are paused' : 'no worker serves the program';
  if (program_changed_since !== null) {
    const what = `the API has none of the records that the mirror has: it is another account, and ${paused}`;
    const fix = 'affiliate-mirror doctor';
    return [concernOf({ code: 'program_changed', what, since: program_changed_since, fix })];
  }
  if (secret_refused_since === null) return [];
  const what = `the API refuses the secret, and ${paused}`;
  return [
    concernOf({ code: 'secret_refused', what, since: secret_refused_since, fix: 'affiliate-mirror doctor' }),
  ];
}

function judgeLastRun(status: ResourceStatus, lastThrottledAt: Timestamp | null): Concern[] {
  const {
    resource,
    last_run_state,
    last_run_error_code: error_code,
    last_run_error,
    last_run_finished_at,
    failing_since,
    unverified_since,
  } = status;
  const fix = `affiliate-mirror sync ${resource}`;
  if (last_run_state === 'failed') {
    const summary = `the last sync of ${resource} failed`;
    const why = last_run_error === null ? '' : `: ${last_run_error}`;
    const what = `${summary}${error_code === null ? '' : ` (${error_code})`}${why}`;
    const given = { resource, what, summary, error_code, since: failing_since };
    return [concernOf({ code: 'sync_failed', ...given, fix: fixFailedSync(resource, error_code) })];
  }
  if (last_run_state === 'interrupted') {
    const what = `the last sync of ${resource} was stopped before its end`;
    return [concernOf({ code: 'sync_interrupted', resource, what, since: last_run_finished_at, fix })];
  }
  if (isSilent(status, lastThrottledAt)) {
    const what = `the running sync of ${resource} has saved nothing for long: its process is most likely dead`;
    return [concernOf({ code: 'sync_silent', resource, what, since: status.last_run_saved_at, fix })];
  }
  if (last_run_state === 'partial' && status.last_run_verified === false) {
    const ended = `the last sync of ${resource} ended`;
    const what = `${ended} ${last_run_error ?? 'unverified'}`;
    const given = { resource, what, summary: `${ended} unverified`, since: unverified_since, fix };
    return [concernOf({ code: 'sync_unverified', ...given })];
  }
  return [];
}

// The resources of one scheduler become stale together: one concern for all of them.
function judgeAges({ resources }: MirrorHealth, maxAgeSeconds: number): Concern[] {
  // A running or dead sync is a concern of its own.
  const stale = resources.filter((one) => isStale(one, maxAgeSeconds) && one.last_run_state !== 'running');
  const never = stale.filter(
    ({ changes_as_of, last_run_state }) => changes_as_of === null && last_run_state === null,
  );
  const old = stale.filter(({ changes_as_of }) => changes_as_of !== null);
  return [
    ...together('never_synced', never, 'never synced', resources),
    ...together('stale', old, 'stale: no sync has verified the records of the API', resources),
  ];
}

function together(
  code: ConcernCode,
  some: readonly ResourceStatus[],
  what: string,
  all: readonly ResourceStatus[],
): Concern[] {
  if (some.length === 0) return [];
  const names = some.map(({ resource }) => resource);
  const [since = null] = some.flatMap(({ changes_as_of }) => changes_as_of ?? []).toSorted();
  return [
    concernOf({
      code,
      resource: names.length === 1 ? (names[0] ?? null) : null,
      what: `${names.join(', ')}: ${what}`,
      since,
      fix: ['affiliate-mirror sync', ...(some.length === all.length ? [] : names)].join(' '),
    }),
  ];
}

function judgeHeldBack(status: ResourceStatus): Concern[] {
  const { resource, deletions_held_back, deletions_accepted, deletions_held_back_since: since } = status;
  const open = deletions_held_back - deletions_accepted;
  if (open === 0) return [];
  const what = `${counted(open, 'deletion')} of ${resource} held back, though the API no longer has the records`;
  const fix = `affiliate-mirror deletions list ${resource}`;
  return [concernOf({ code: 'deletions_held_back', resource, what, since, fix })];
}

function judgeRejected({ resource, rejected_records, rejected_since: since }: ResourceStatus): Concern[] {
  if (rejected_records === 0) return [];
  const what = `${counted(rejected_records, 'record')} of ${resource} rejected: different from the contract, or refused by the database`;
  const fix = 'affiliate-mirror status drift';
  return [concernOf({ code: 'records_rejected', resource, what, since, fix })];
}

function judgePayments({ payments }: MirrorHealth): Concern[] {
  const concerns: Concern[] = [];
  if (payments.failed > 0) {
    const what = `${counted(payments.failed, 'payment request')} failed`;
    const fix = 'affiliate-mirror commissions retry';
    concerns.push(concernOf({ code: 'payments_failed', what, since: payments.failed_since, fix }));
  }
  if (payments.neglected > 0) {
    const what = `${counted(payments.neglected, 'payment request')} due, and no worker handles them`;
    const since = payments.neglected_since;
    concerns.push(concernOf({ code: 'payments_neglected', what, since, fix: 'affiliate-mirror work' }));
  }
  return concerns;
}

function judgeSums({ commission_differences: differences }: MirrorHealth): Concern[] {
  if (differences === null || differences === 0) return [];
  const sums =
    differences === 1
      ? 'sum of commissions by affiliate and currency is'
      : 'sums of commissions by affiliate and currency are';
  return [
    concernOf({
      code: 'sums_differ',
      resource: 'commissions',
      what: `${differences} ${sums} not those that the API reports: see the view commission_differences`,
      since: null,
      fix: 'affiliate-mirror sync affiliates commissions',
    }),
  ];
}

function judgeBooks({ books: { differing, differ_since, differ_in } }: MirrorHealth): Concern[] {
  if (differing === 0) return [];
  const subject = differing === 1 ? '1 commission differs' : `${formatCount(differing)} commissions differ`;
  const what = `${subject} between the books and the API, as last compared`;
  return [
    concernOf({
      code: 'books_differ',
      what,
      since: differ_since,
      fix: `affiliate-mirror commissions reconcile ${differ_in === 'payment_ledger' ? '--due' : 'FILE'} --note`,
    }),
  ];
}

function judgeBudget({ budget }: MirrorHealth): Concern[] {
  if (budget.paused_until === null) return [];
  const what = `the API asked for a pause: nothing is sent until ${budget.paused_until}`;
  const since = budget.last_throttled_at;
  return [concernOf({ code: 'throttled', what, since, fix: 'affiliate-mirror status budget' })];
}

type Given = Pick<Concern, 'code' | 'what' | 'since' | 'fix'> & Partial<Concern>;

function concernOf({ error_code = null, ...given }: Given): Concern {
  const if_it_stays = ifItStays(given.code, error_code);
  return { resource: null, summary: given.what, error_code, if_it_stays, ...given };
}

function judgeDisk({ disk: { full_in_days: days, full_at, source } }: Growth): Concern[] {
  if (days === null || full_at === null || days > FILLING_DAYS) return [];
  const of = source === 'limit' ? 'DATABASE_SIZE_LIMIT' : 'the disk of DATA_DIR';
  const what =
    days === 0
      ? `${of} is used up`
      : `at this rate ${of} is used up ${describeDays(days)}, on ${full_at.slice(0, 10)}`;
  return [concernOf({ code: 'disk_filling', what, since: null, fix: 'affiliate-mirror status growth' })];
}

function describeDays(days: number): string {
  return days < 1 ? 'within a day' : `in ${counted(Math.floor(days), 'day')}`;
}
