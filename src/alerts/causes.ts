// What somebody is notified of, how long it must hold before, and how long it must be well after. docs/alerts.md shows
// the same table, with the reason of each wait.

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

/** Returns whether the text names a cause that this version knows. */
export function isAlertCode(text: string): text is AlertCode {
  return Object.hasOwn(RULES, text);
}
