// The actions and states of a request for payment, as the payment ledger has them.

/** Every action, in the order of the documentation. */
export const ACTIONS = ['pay', 'unpay', 'due'] as const;

export type Action = (typeof ACTIONS)[number];

/** The states in which a request ends. */
export const END_STATES = [
  'applied',
  'unchanged',
  'conflict',
  'not_found',
  'rejected',
  'failed',
  'superseded',
  'cancelled',
] as const;

export type EndState = (typeof END_STATES)[number];
export type UpdateState = 'pending' | EndState;
