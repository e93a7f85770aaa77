// Whether all is well, and if not what is wrong: the one judgement of the figures, for everything that shows it. Pure.

import type { Timestamp } from '../contract/timestamp.ts';
import type { ResourceStatus } from './read-freshness.ts';
import type { MirrorHealth } from './read-health.ts';

export interface Concern {
  /** Stable name of what is wrong. */
  readonly code: ConcernCode;
  /** The resource that it is about; null where it is about none, or all of them. */
  readonly resource: string | null;
  /** What is wrong, a sentence without a full stop. */
  readonly what: string;
  /** Since when; null where that is not known. */
  readonly since: Timestamp | null;
  /** The command to run, which fixes it or says more. */
  readonly fix: string;
}

/** Every kind of concern, the most serious first. */
export const CONCERN_CODES = [
  'secret_refused',
  'sync_failed',
  'sync_interrupted',
  'sync_silent',
  'sync_unverified',
  'never_synced',
  'stale',
  'payments_failed',
  'payments_neglected',
  'deletions_held_back',
  'records_rejected',
  'sums_differ',
  'throttled',
] as const;

export type ConcernCode = (typeof CONCERN_CODES)[number];

/** A night's sync, and two hours for it to run. */
export const USUAL_MAX_AGE_SECONDS = 26 * 3600;
/** A run saves its progress with every batch; one that waits for the program's pause is silent for five minutes. */
const SILENT_SECONDS = 15 * 60;

/**
 * Returns what somebody should look at, the most serious first; empty where all is well.
 *
 * Units: `maxAgeSeconds` is the age from which a resource is stale.
 */
export function findConcerns(
  status: MirrorHealth,
  { maxAgeSeconds = USUAL_MAX_AGE_SECONDS }: { maxAgeSeconds?: number } = {},
): readonly Concern[] {
  const concerns = [
    ...judgeSecret(status),
    ...status.resources.flatMap((resource) => [
      ...judgeLastRun(resource),
      ...judgeHeldBack(resource),
      ...judgeRejected(resource),
    ]),
    ...judgeAges(status, maxAgeSeconds),
    ...judgePayments(status),
    ...judgeSums(status),
    ...judgeBudget(status),
  ];
  return concerns.toSorted((a, b) => CONCERN_CODES.indexOf(a.code) - CONCERN_CODES.indexOf(b.code));
}

/** Returns whether the resource is older than that, or was never synced. */
export function isStale({ age_seconds }: ResourceStatus, maxAgeSeconds: number): boolean {
  return age_seconds === null || age_seconds > maxAgeSeconds;
}

function judgeSecret({ worker: { secret_refused_since } }: MirrorHealth): Concern[] {
  if (secret_refused_since === null) return [];
  const what = 'the program refuses the API secret, and all workers are paused';
  return [
    {
      code: 'secret_refused',
      resource: null,
      what,
      since: secret_refused_since,
      fix: 'affiliate-mirror doctor',
    },
  ];
}

function judgeLastRun(status: ResourceStatus): Concern[] {
  const { resource, last_state, last_error_code, last_error, last_finished_at: since } = status;
  const fix = `affiliate-mirror sync ${resource}`;
  if (last_state === 'failed') {
    const why = `${last_error_code === null ? '' : ` (${last_error_code})`}: ${last_error}`;
    const what = `the last sync of ${resource} failed${why}`;
    return [{ code: 'sync_failed', resource, what, since, fix: 'affiliate-mirror doctor' }];
  }
  if (last_state === 'interrupted') {
    const what = `the last sync of ${resource} was stopped before its end`;
    return [{ code: 'sync_interrupted', resource, what, since, fix }];
  }
  if (last_state === 'running' && (status.last_saved_age_seconds ?? 0) > SILENT_SECONDS) {
    const what = `the running sync of ${resource} has saved nothing for long: its process is most likely gone`;
    return [{ code: 'sync_silent', resource, what, since: status.last_saved_at, fix }];
  }
  if (last_state === 'partial' && status.last_verified === false) {
    const what = `the last sync of ${resource} ended ${last_error ?? 'unverified'}`;
    return [{ code: 'sync_unverified', resource, what, since, fix }];
  }
  return [];
}

// Those of one scheduler go stale together: one concern for all of them.
function judgeAges({ resources }: MirrorHealth, maxAgeSeconds: number): Concern[] {
  // A sync that is under way, or died, speaks for itself.
  const stale = resources.filter((one) => isStale(one, maxAgeSeconds) && one.last_state !== 'running');
  const never = stale.filter(({ fresh_as_of, last_state }) => fresh_as_of === null && last_state === null);
  const old = stale.filter(({ fresh_as_of }) => fresh_as_of !== null);
  return [
    ...together('never_synced', never, 'never synced', resources),
    ...together('stale', old, 'stale: no sync has verified what the program has', resources),
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
  const [since = null] = some.flatMap(({ fresh_as_of }) => fresh_as_of ?? []).toSorted();
  return [
    {
      code,
      resource: names.length === 1 ? (names[0] ?? null) : null,
      what: `${names.join(', ')}: ${what}`,
      since,
      fix: ['affiliate-mirror sync', ...(some.length === all.length ? [] : names)].join(' '),
    },
  ];
}

function judgeHeldBack(status: ResourceStatus): Concern[] {
  const { resource, deletes_held_back, deletes_accepted, deletes_held_back_since: since } = status;
  const open = deletes_held_back - deletes_accepted;
  if (open === 0) return [];
  const what = `${counted(open, 'deletion')} of ${resource} held back, though the program no longer has the records`;
  return [
    {
      code: 'deletions_held_back',
      resource,
      what,
      since,
      fix: `affiliate-mirror deletions list ${resource}`,
    },
  ];
}

function judgeRejected({ resource, rejected_records, rejected_since: since }: ResourceStatus): Concern[] {
  if (rejected_records === 0) return [];
  const what = `${counted(rejected_records, 'record')} of ${resource} rejected: not what the contract says`;
  const fix = 'affiliate-mirror status drift';
  return [{ code: 'records_rejected', resource, what, since, fix }];
}

function judgePayments({ payments }: MirrorHealth): Concern[] {
  const concerns: Concern[] = [];
  if (payments.failed > 0) {
    const what = `${counted(payments.failed, 'payment request')} failed`;
    const fix = 'affiliate-mirror commissions retry';
    concerns.push({ code: 'payments_failed', resource: null, what, since: payments.failed_since, fix });
  }
  if (payments.neglected > 0) {
    const what = `${counted(payments.neglected, 'payment request')} due, and no worker takes them up`;
    const since = payments.neglected_since;
    concerns.push({ code: 'payments_neglected', resource: null, what, since, fix: 'affiliate-mirror work' });
  }
  return concerns;
}

function judgeSums({ commission_list: { differences } }: MirrorHealth): Concern[] {
  if (differences === null || differences === 0) return [];
  const sums =
    differences === 1
      ? 'sum of commissions by affiliate and currency is'
      : 'sums of commissions by affiliate and currency are';
  return [
    {
      code: 'sums_differ',
      resource: 'commissions',
      what: `${differences} ${sums} not what the program itself reports: see the view commission_differences`,
      since: null,
      fix: 'affiliate-mirror sync affiliates commissions',
    },
  ];
}

function judgeBudget({ budget }: MirrorHealth): Concern[] {
  if (budget.paused_until === null) return [];
  const what = `the program asked for a pause: nothing is sent until ${budget.paused_until}`;
  const since = budget.last_throttled_at;
  return [{ code: 'throttled', resource: null, what, since, fix: 'affiliate-mirror status budget' }];
}

const COUNT = new Intl.NumberFormat('en-US');

function counted(count: number, noun: string): string {
  return `${COUNT.format(count)} ${noun}${count === 1 ? '' : 's'}`;
}
