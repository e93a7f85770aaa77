// How a change of a commission is spelled in the body of its PUT.

/** `paid_at: null` marks the commission unpaid; a field that is absent is not sent and stays as it is. */
export interface CommissionChange {
  readonly paid_at?: string | null;
  readonly due_at?: string;
}

/**
 * Returns the form-encoded body of the change.
 *
 * Throws: TypeError on a change of nothing, and on a blank text: a blank `paid_at` would clear a payment, so
 * only null may say that.
 * Source: contract, Update commission.
 */
export function commissionForm(change: CommissionChange): string {
  const form = new URLSearchParams();
  if (change.paid_at !== undefined) {
    form.set('paid_at', change.paid_at === null ? '' : requireText('paid_at', change.paid_at));
  }
  if (change.due_at !== undefined) form.set('due_at', requireText('due_at', change.due_at));
  if (form.size === 0) throw new TypeError('a change of a commission names neither paid_at nor due_at');
  return form.toString();
}

function requireText(name: string, value: string): string {
  if (value.trim() === '') throw new TypeError(`${name} is blank`);
  return value;
}
