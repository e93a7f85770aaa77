// Decides what may be stored of a record's fields. One function for what comes from the program and for what is stored
// already: a switch of the mode and a forgotten person rewrite the tables by the rule that later syncs keep.

import { isDeepStrictEqual } from 'node:util';
import type { PersonalKind } from '../contract/declare.ts';
import { treatCoupon, treatFigures } from './json-parts.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import {
  type Fields,
  hasRecord,
  isForgottenAddress,
  isOfForgotten,
  mentionsForgotten,
  type RecordFields,
  type Rule,
} from './rule.ts';
import { hashValue, isHashed, normalise } from './values.ts';

export interface FieldsOf extends RecordFields {
  /** Whether they come from the mirror, and may be hashes. */
  readonly isStored: boolean;
}

/**
 * Returns the fields that are stored otherwise, with their values, and undefined for what is left as it is in the
 * mirror; null where all are stored as they are.
 */
export function treatFields(rule: Rule, given: FieldsOf): Fields | null {
  const { table, fields } = given;
  const treated: Record<string, unknown> = {};
  const isForgotten = isOfForgotten(rule, given);
  for (const [column, kind] of Object.entries(PERSONAL_COLUMNS[table])) {
    const value = fields[column];
    if (value === undefined || value === null) continue;
    const stored = treatValue(rule, { ...given, kind, value, isForgotten });
    if (!isDeepStrictEqual(stored, value)) treated[column] = stored;
  }
  const extra = fields['_extra'];
  if (extra !== undefined && extra !== null) {
    const isLeftOut = rule.mode !== 'plain' || isForgotten || mentionsForgotten(rule, JSON.stringify(extra));
    if (isLeftOut) treated['_extra'] = null;
  }
  return Object.keys(treated).length === 0 ? null : treated;
}

interface ValueOf<T = unknown> extends FieldsOf {
  readonly kind: PersonalKind;
  readonly value: T;
  /** Whether the whole record is a forgotten person's. */
  readonly isForgotten: boolean;
}

function treatValue(rule: Rule, given: ValueOf): unknown {
  if (isAnybodys(rule, given)) return undefined;
  const { kind, value, isForgotten } = given;
  switch (kind) {
    case 'figures':
      return rule.mode === 'plain' && !isForgotten ? value : treatFigures(value);
    case 'customer':
    case 'pseudonym':
      return isForgotten ? null : value;
    case 'coupon':
      return treatCouponOf(rule, { ...given, value: value as Coupon });
    case 'text':
    case 'address':
    case 'identity':
      return treatText(rule, given);
  }
}

function treatText(rule: Rule, { kind, value, isForgotten, isStored }: ValueOf): string | null {
  if (typeof value !== 'string' || isForgotten) return null;
  const isAddress = kind !== 'text';
  if (isAddress && isForgottenAddress(rule, value)) return null;
  return storeText(rule, value, { isAddress, isStored });
}

interface Coupon {
  readonly affiliate_id?: unknown;
}

function treatCouponOf(rule: Rule, { value, fields, isForgotten, isStored }: ValueOf<Coupon>): object {
  const owners = [value.affiliate_id, fields['affiliate_id']];
  const isTheirs = isForgotten || owners.some((id) => hasRecord(rule, 'affiliates', id));
  if (isTheirs) return treatCoupon(value, () => null);
  if (rule.mode === 'plain' && !hasHash(value)) return value;
  return treatCoupon(value, (name) => storeText(rule, name, { isAddress: false, isStored }));
}

/**
 * Returns whether a link or a coupon that the program sent may be a forgotten person's, since nothing says whose it is:
 * those of a sale come without their affiliate. They are stored once they come with it.
 */
function isAnybodys(
  { forgotten }: Rule,
  { table, kind, value, fields, isForgotten, isStored }: ValueOf,
): boolean {
  if (isForgotten || isStored || forgotten === null) return false;
  const owners = [fields['affiliate_id']];
  if (kind === 'coupon') owners.push((value as Coupon).affiliate_id);
  else if (table !== 'links') return false;
  return owners.every((owner) => typeof owner !== 'string');
}

function hasHash(coupon: Coupon): boolean {
  return Object.values(coupon).some((value) => typeof value === 'string' && isHashed(value));
}

function storeText(
  { mode, key, keepsHashes }: Rule,
  value: string,
  { isAddress, isStored }: { isAddress: boolean; isStored: boolean },
): string | null {
  if (mode === 'omit') return null;
  if (isStored && isHashed(value)) return mode === 'hash' && keepsHashes ? value : null;
  if (mode === 'plain') return value;
  const normalised = normalise(value, isAddress);
  if (key === null) throw new TypeError('a hash without a key');
  return normalised === '' ? '' : hashValue(key, normalised);
}
