// What a list and a search may be asked for, and what a change may hold. Whatever else they are passed is refused
// before anything is sent: a misspelled filter, or one whose value happens to be undefined, would narrow nothing, and
// return everybody's records; a misspelled field would leave out a part of the change.

import { z } from 'zod';
import type { CommissionChange, ListQuery } from '../api/request-parameters.ts';
import { lowerCaseId, timestamp } from '../contract/fields.ts';
import { FILTERS_OF_SEVERAL, type ListedResource, RESOURCES } from '../contract/resources.ts';

/** The filters of which the program keeps at most one affiliate for each value. */
const AFFILIATE_KEYS = ['email', 'stripe_customer_id'] as const;

/** The filters whose value is the identifier of a record. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['affiliate_id', 'campaign_id']);

type Query<R extends ListedResource> = Pick<ListQuery<R>, 'filters' | 'expand'>;

/**
 * Returns the list's filters and expansions.
 *
 * Throws: TypeError naming what is wrong with the parameters, and what is known.
 */
export function checkListParameters<R extends ListedResource>(resource: R, parameters: unknown): Query<R> {
  return checkQuery(`${resource}.list`, resource, RESOURCES[resource].filters, parameters);
}

/**
 * Returns the one filter of a search for an affiliate, and its expansions.
 *
 * Throws: TypeError naming what is wrong with the key, and what is known.
 */
export function checkAffiliateKey(key: unknown): Query<'affiliates'> {
  const query = checkQuery('affiliates.find', 'affiliates', AFFILIATE_KEYS, key);
  if (Object.keys(query.filters ?? {}).length !== 1) {
    throw new TypeError(`affiliates.find takes one of ${AFFILIATE_KEYS.join(', ')}`);
  }
  return query;
}

const changeSchema = z.object({ paid_at: timestamp.nullish(), due_at: timestamp.optional() });

/**
 * Returns the change of a commission.
 *
 * Throws: TypeError naming what is wrong with it, and what is known.
 */
export function checkChange(change: unknown): CommissionChange {
  const call = 'commissions.update';
  const known = Object.keys(changeSchema.shape);
  for (const name of Object.keys(checkObject(call, known, change))) checkName(call, known, name);
  const checked = changeSchema.safeParse(change);
  const [issue] = checked.error?.issues ?? [];
  if (issue !== undefined) throw new TypeError(`${issue.path.join('.')}: ${issue.message}`);
  return change as CommissionChange;
}

function checkQuery<R extends ListedResource>(
  call: string,
  resource: R,
  known: readonly string[],
  parameters: unknown,
): Query<R> {
  const takes = [...known, 'expand'];
  const { expand, ...filters } = checkObject(call, takes, parameters);
  for (const [name, value] of Object.entries(filters)) {
    checkName(call, takes, name);
    checkFilter(
      `${name} of ${call}`,
      FILTERS_OF_SEVERAL.some((one) => one === name),
      value,
    );
    if (IDENTIFIERS.has(name)) filters[name] = lowerCaseId(value as string);
  }
  // Left out or undefined, it narrows nothing either way.
  if (expand !== undefined) checkExpansions(call, RESOURCES[resource].expansions, expand);
  return { filters, ...(expand !== undefined && { expand }) } as Query<R>;
}

function checkObject(call: string, takes: readonly string[], given: unknown): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${call} takes an object of ${takes.join(', ')}`);
  }
  return { ...given };
}

function checkName(call: string, takes: readonly string[], name: string): void {
  if (!takes.includes(name)) {
    throw new TypeError(`${call} does not know ${name}: it takes ${takes.join(', ')}`);
  }
}

function checkFilter(what: string, takesSeveral: boolean, value: unknown): void {
  if (value === undefined) throw new TypeError(`${what} is undefined: leave it out, or give it a value`);
  if (isFilledText(value)) return;
  if (!takesSeveral) throw new TypeError(`${what} must be text that is not blank`);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFilledText)) {
    throw new TypeError(`${what} must be text that is not blank, or an array of such texts`);
  }
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function checkExpansions(call: string, known: readonly string[], expand: unknown): void {
  if (!Array.isArray(expand))
    throw new TypeError(`expand of ${call} must be an array of ${known.join(', ')}`);
  for (const name of expand) {
    if (known.includes(name)) continue;
    throw new TypeError(`${call} cannot expand ${JSON.stringify(name)}: it knows ${known.join(', ')}`);
  }
}
