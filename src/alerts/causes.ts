// What somebody is notified of, how long it must hold before, and how long it must be well after. docs/alerts.md shows
// the same table.

import type { ConcernCode } from '../reports/find-concerns.ts';

/** Every concern is a cause but one: a pause that the program asks for ends by itself. */
export type AlertCode = Exclude<ConcernCode, 'throttled'> | 'queue_away';

export interface Rule {
  /** It is an alert once it was seen for so long, by every look in between. */
  readonly opensAfterSeconds: number;
  /** It is resolved once it was not seen for so long. */
  readonly closesAfterSeconds: number;
  /** While one of these runs, nobody can say yet whether it is well again: `own` is the resource that it is about. */
  readonly undecidedWhileSyncing: 'nothing' | 'own' | 'any' | readonly string[];
  /** Where one scheduler's silence shows in several resources, they are one cause. */
  readonly isOfAllResources: boolean;
  /** Why it waits for so long, or for nothing. */
  readonly why: string;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

const AT_ONCE: Omit<Rule, 'why'> = {
  opensAfterSeconds: 0,
  closesAfterSeconds: 0,
  undecidedWhileSyncing: 'nothing',
  isOfAllResources: false,
};

/** The most serious first. */
export const RULES: Readonly<Record<AlertCode, Rule>> = {
  secret_refused: { ...AT_ONCE, why: 'all workers pause until somebody acts' },
  program_changed: { ...AT_ONCE, why: 'all workers pause until the settings or the records are put right' },
  queue_away: {
    ...AT_ONCE,
    opensAfterSeconds: 2 * MINUTE,
    closesAfterSeconds: 2 * MINUTE,
    why: 'a Redis restarts, and one worker alone may be cut off from it',
  },
  sync_failed: {
    ...AT_ONCE,
    opensAfterSeconds: 2 * MINUTE,
    undecidedWhileSyncing: 'own',
    why: 'a worker tries again after seconds, and several times in two minutes',
  },
  sync_interrupted: {
    ...AT_ONCE,
    opensAfterSeconds: 15 * MINUTE,
    undecidedWhileSyncing: 'own',
    why: 'a worker that is replaced goes on after a minute',
  },
  sync_silent: {
    ...AT_ONCE,
    undecidedWhileSyncing: 'own',
    why: 'it is a concern after 15 minutes only',
  },
  sync_unverified: {
    ...AT_ONCE,
    opensAfterSeconds: 20 * MINUTE,
    undecidedWhileSyncing: 'own',
    why: 'the next delta, a quarter of an hour later, may verify it',
  },
  never_synced: {
    ...AT_ONCE,
    opensAfterSeconds: HOUR,
    undecidedWhileSyncing: 'any',
    isOfAllResources: true,
    why: 'a new mirror waits for the first tick of its schedule',
  },
  stale: {
    ...AT_ONCE,
    undecidedWhileSyncing: 'any',
    isOfAllResources: true,
    why: 'the bound is the wait',
  },
  payments_failed: {
    ...AT_ONCE,
    closesAfterSeconds: 5 * MINUTE,
    why: 'they are given up; a retry that fails again is no second cause',
  },
  payments_neglected: {
    ...AT_ONCE,
    closesAfterSeconds: 5 * MINUTE,
    why: 'it is a concern after five minutes only; a worker that comes and goes is one cause',
  },
  deletions_held_back: { ...AT_ONCE, why: 'somebody has to decide' },
  disk_filling: {
    ...AT_ONCE,
    closesAfterSeconds: 24 * HOUR,
    why: 'it is a forecast of weeks, which moves by a day or two',
  },
  records_rejected: { ...AT_ONCE, why: 'they stay out until a run stores them' },
  sums_differ: {
    ...AT_ONCE,
    opensAfterSeconds: 30 * MINUTE,
    closesAfterSeconds: 15 * MINUTE,
    undecidedWhileSyncing: ['affiliates', 'commissions'],
    why: 'two resources are read one after the other, and the next delta often settles it',
  },
  books_differ: { ...AT_ONCE, why: 'a comparison has ended' },
};

/** Returns whether the text names a cause that this version knows. */
export function isAlertCode(text: string): text is AlertCode {
  return Object.hasOwn(RULES, text);
}
