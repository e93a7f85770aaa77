// The rules of alerts: the causes that open one, and for how long a cause must be present or absent. Finds the present
// causes from the figures of the mirror. docs/alerts.md has the same table, with the reason of each wait. Pure.

import { type ConcernCode, ifItStays } from '../../reports/concern-advice.ts';
import { type Concern, findConcerns } from '../../reports/find-concerns.ts';
import type { Growth } from '../../reports/read-growth.ts';
import type { MirrorHealth } from '../../reports/read-health.ts';

/** Every concern but one is a cause: a pause that the API asks for ends by itself. */
export type AlertCode = Exclude<ConcernCode, 'throttled'> | 'queue_away';

export interface Rule {
  /** An alert opens when every evaluation for so long has found its cause. */
  readonly opensAfterSeconds: number;
  /** It is resolved when no evaluation for so long has found its cause. */
  readonly closesAfterSeconds: number;
  /** While a sync of these resources runs, the alert is not resolved; `own` is that of the alert. */
  readonly undecidedWhileSyncing: 'nothing' | 'own' | 'any' | readonly string[];
  /** If one silent scheduler shows in several resources, they are one cause. */
  readonly isOfAllResources: boolean;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

const AT_ONCE: Rule = {
  opensAfterSeconds: 0,
  closesAfterSeconds: 0,
  undecidedWhileSyncing: 'nothing',
  isOfAllResources: false,
};

/** The most serious first. */
export const RULES: Readonly<Record<AlertCode, Rule>> = {
  secret_refused: AT_ONCE,
  program_changed: AT_ONCE,
  queue_away: { ...AT_ONCE, opensAfterSeconds: 2 * MINUTE, closesAfterSeconds: 2 * MINUTE },
  sync_failed: { ...AT_ONCE, opensAfterSeconds: 2 * MINUTE, undecidedWhileSyncing: 'own' },
  sync_interrupted: { ...AT_ONCE, opensAfterSeconds: 15 * MINUTE, undecidedWhileSyncing: 'own' },
  sync_silent: { ...AT_ONCE, undecidedWhileSyncing: 'own' },
  sync_unverified: { ...AT_ONCE, opensAfterSeconds: 20 * MINUTE, undecidedWhileSyncing: 'own' },
  never_synced: { ...AT_ONCE, opensAfterSeconds: HOUR, undecidedWhileSyncing: 'any', isOfAllResources: true },
  stale: { ...AT_ONCE, undecidedWhileSyncing: 'any', isOfAllResources: true },
  payments_failed: { ...AT_ONCE, closesAfterSeconds: 5 * MINUTE },
  payments_neglected: { ...AT_ONCE, closesAfterSeconds: 5 * MINUTE },
  deletions_held_back: AT_ONCE,
  disk_filling: { ...AT_ONCE, closesAfterSeconds: 24 * HOUR },
  records_rejected: AT_ONCE,
  sums_differ: {
    ...AT_ONCE,
    opensAfterSeconds: 30 * MINUTE,
    closesAfterSeconds: 15 * MINUTE,
    undecidedWhileSyncing: ['affiliates', 'commissions'],
  },
  books_differ: AT_ONCE,
};

export function isAlertCode(text: string): text is AlertCode {
  return Object.hasOwn(RULES, text);
}

/** Contains no words of an error. */
export interface Cause {
  readonly code: AlertCode;
  /** Null if it is about no resource, or about all. */
  readonly resource: string | null;
  readonly what: string;
  readonly fix: string;
  readonly error_code: string | null;
  readonly since: string | null;
}

export interface Findings {
  readonly causes: readonly Cause[];
  /** Whether it is not known at present if the cause has ended. */
  readonly isUndecided: (code: AlertCode, resource: string | null) => boolean;
}

export interface FindOptions {
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  /** Null if it could not be measured. */
  readonly growth: Growth | null;
  readonly isQueueAway: boolean;
}

/** Any other text is no code, and may be an error's message. */
const CODE = /^[A-Z0-9_]{1,60}$/;

export function findCauses(
  figures: MirrorHealth,
  { isQueueAway, growth, maxAgeSeconds }: FindOptions,
): Findings {
  const options = { maxAgeSeconds, ...(growth !== null && { growth }) };
  const causes = findConcerns(figures, options).flatMap(toCause);
  const syncing = new Set(
    figures.resources
      .filter(({ last_run_state }) => last_run_state === 'running')
      .map(({ resource }) => resource),
  );
  return {
    causes: isQueueAway ? [QUEUE_AWAY, ...causes] : causes,
    isUndecided(code, resource) {
      if (code === 'disk_filling' && growth === null) return true;
      const { undecidedWhileSyncing: which } = RULES[code];
      if (which === 'nothing') return false;
      if (which === 'any') return syncing.size > 0;
      if (which === 'own') return resource !== null && syncing.has(resource);
      return which.some((one) => syncing.has(one));
    },
  };
}

const QUEUE_AWAY: Cause = {
  code: 'queue_away',
  resource: null,
  what: 'the queue does not answer any worker: nothing is synced or paid',
  fix: 'affiliate-mirror doctor',
  error_code: null,
  since: null,
};

/** Returns what to do if the cause stays after its command. */
export function ifCauseStays(code: AlertCode, errorCode: string | null): string {
  if (code === 'queue_away') return 'start what doctor names; the workers then go on by themselves';
  return ifItStays(code, errorCode);
}

function toCause({ code, resource, summary, fix, error_code, since }: Concern): Cause[] {
  if (code === 'throttled') return [];
  const safeCode = error_code !== null && CODE.test(error_code) ? error_code : null;
  return [
    {
      code,
      resource: RULES[code].isOfAllResources ? null : resource,
      what: summary,
      fix,
      error_code: safeCode,
      since,
    },
  ];
}
