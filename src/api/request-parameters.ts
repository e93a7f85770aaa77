// Spells parameters: those of a list in its address, a change of a commission in the body of its PUT.

import type { Expansion, Filters, ListedResource } from '../contract/resources.ts';

export interface ListQuery<R extends ListedResource> {
  readonly page: number;
  readonly limit: number;
  readonly filters?: Filters<R>;
  readonly expand?: readonly Expansion<R>[];
}

/**
 * Returns the query string of a list, without the question mark.
 *
 * Shape: `page`, `limit`, the filters, `expand`; one value as `name=a`, several as `name[]=a&name[]=b`.
 * Throws: TypeError on a filter with an empty array, which would silently ask for everything.
 * Source: contract, Conventions, 2 and 3.
 */
export function listQueryString<R extends ListedResource>(query: ListQuery<R>): string {
  const pairs: string[] = [`page=${query.page}`, `limit=${query.limit}`];
  const filters: Record<string, string | readonly string[] | undefined> = query.filters ?? {};
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined) continue;
    const values = typeof value === 'string' ? [value] : value;
    if (values.length === 0) throw new TypeError(`the filter ${name} holds no value`);
    pairs.push(...parameter(name, values));
  }
  pairs.push(...parameter('expand', query.expand ?? []));
  return pairs.join('&');
}

function parameter(name: string, values: readonly string[]): string[] {
  const key = values.length === 1 ? name : `${name}[]`;
  return values.map((value) => `${key}=${encodeURIComponent(value)}`);
}

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
