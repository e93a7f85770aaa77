// A request that asked for the same as a row before it, and what a later request made of that. Pure.

import type { Action } from '../../contract/payment-request.ts';
import { GOOD_STATES } from '../update-request.ts';
import type { Latest } from './read-latest.ts';
import type { Answer } from './request-updates.ts';

export interface Earlier
  extends Pick<
    Answer,
    'state' | 'outcome' | 'action' | 'overtaken_by' | 'overtaken_action' | 'overtaken_state'
  > {
  readonly id: number;
  /** The commission's values by the mirror. */
  readonly now: Latest | undefined;
}

/** The state that people see then. */
export const OVERTAKEN = 'overtaken';

/** Returns whether it was carried out, and a later request for the same value took its place or waits to. */
export function isOvertaken({ state, overtaken_by }: Pick<Answer, 'state' | 'overtaken_by'>): boolean {
  return overtaken_by !== null && GOOD_STATES.includes(state);
}

const DONE: Readonly<Record<Action, string>> = {
  pay: 'paid by',
  unpay: 'taken back by',
  due: 'given its due date by',
};

/** Describes a request that was carried out, and what a later one made of it: both by number, then the value of now. */
export function describeOvertaken(earlier: Earlier): string {
  const { id, state, action, overtaken_by, overtaken_action, overtaken_state, now } = earlier;
  // The function that answers rows names both.
  if (action === null || overtaken_action === null) throw new TypeError('no request overtook it');
  const isWaiting = overtaken_state === 'pending';
  const later = action === overtaken_action ? 'changed by' : DONE[overtaken_action];
  const words = [
    state === 'unchanged' ? `request ${id} found it so already` : `${DONE[action]} request ${id}`,
    ...(isWaiting ? [] : [`${later} ${overtaken_by}`]),
    ...(now?.has == null ? [] : [now.has]),
  ];
  return `${words.join(', ')}${isWaiting ? `; request ${overtaken_by} (${overtaken_action}) waits` : ''}`;
}
