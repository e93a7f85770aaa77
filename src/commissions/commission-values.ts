// What the payment ledger keeps of a commission, and whether anybody changed it since. Pure.

import type { Commission } from '../contract/commission.ts';
import { toMicros } from '../contract/timestamp.ts';

/** The part of a commission that a payment is about: what the payment ledger keeps of each answer. */
export interface CommissionValues {
  readonly paid_at: string | null;
  readonly due_at: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly state: string | null;
  readonly voided_at: string | null;
  readonly updated_at: string;
}

/** Returns the part of the commission that the payment ledger keeps. */
export function valuesOf(commission: Commission): CommissionValues {
  const { paid_at, due_at = null, amount, currency, state = null, voided_at = null } = commission;
  return { paid_at, due_at, amount, currency, state, voided_at, updated_at: commission.updated_at };
}

/** Returns whether anybody changed it, us included: a change that arrived may have been taken back since. */
export function isChangedSince(
  before: CommissionValues,
  { paid_at, due_at = null, updated_at }: Commission,
): boolean {
  const isOther = (one: string | null, other: string | null) =>
    one === null || other === null ? one !== other : toMicros(one) !== toMicros(other);
  return [
    [before.paid_at, paid_at],
    [before.due_at, due_at],
    [before.updated_at, updated_at],
  ].some(([one = null, other = null]) => isOther(one, other));
}
