// The actions and states of a payment request.

export const ACTIONS = ['pay', 'unpay', 'due'] as const;

export type Action = (typeof ACTIONS)[number];

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
