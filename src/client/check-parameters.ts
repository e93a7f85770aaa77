// Checks the parameters of lists, searches and changes before anything is sent. A misspelled filter, or one whose value
// happens to be undefined, would filter nothing and return every record; a misspelled field would leave out a part of
// the change.

import { z } from 'zod';
import type { CommissionChange, ListQuery } from '../api/request-parameters.ts';
import { lowerCaseId, timestamp } from '../contract/fields.ts';
import { FILTERS_OF_SEVERAL, type ListedResource, RESOURCES } from '../contract/resources.ts';

/** Filters that at most one affiliate matches. */
const AFFILIATE_KEYS = ['email', 'stripe_customer_id'] as const;

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

/**
 * Returns the change of a commission.
 *
 * Throws: TypeError naming what is wrong with it, and what is known.
 */
export function checkChange(change: unknown): CommissionChange {
  check('commissions.update', { paid_at: timestamp.nullish(), due_at: timestamp.optional() }, change);
  return change as CommissionChange;
}

const text = z.string('must be text').regex(/\S/, 'must not be blank');
const texts = z.union(
  [text, z.array(text).min(1)],
  'must be text that is not blank, or an array of such texts',
);

/** By filter; every other takes any text. */
const VALUES: Readonly<Record<string, z.ZodType>> = {
  affiliate_id: text.transform(lowerCaseId),
  campaign_id: text.transform(lowerCaseId),
  ...Object.fromEntries(FILTERS_OF_SEVERAL.map((name) => [name, texts])),
};

function checkQuery<R extends ListedResource>(
  call: string,
  resource: R,
  known: readonly string[],
  parameters: unknown,
): Query<R> {
  const shape = {
    // An undefined value is refused.
    ...Object.fromEntries(known.map((name) => [name, z.exactOptional(VALUES[name] ?? text)])),
    expand: z.array(z.enum(RESOURCES[resource].expansions)).optional(),
  };
  const { expand, ...filters } = check(call, shape, parameters);
  return { filters, ...(expand !== undefined && { expand }) } as Query<R>;
}

function check<S extends z.ZodRawShape>(call: string, shape: S, given: unknown) {
  const takes = Object.keys(shape).join(', ');
  const error = (issue: z.core.$ZodRawIssue) =>
    issue.code === 'unrecognized_keys'
      ? `does not know ${issue['keys']}: it takes ${takes}`
      : `takes an object of ${takes}`;
  const checked = z.strictObject(shape, { error }).safeParse(given);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new TypeError([call, issue?.path.join('.'), issue?.message].filter(Boolean).join(' '));
}
