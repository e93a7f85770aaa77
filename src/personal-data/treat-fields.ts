// Decides what may be stored of a record's fields. One function for what comes from the program and for what is stored
// already: a switch of the mode and a forgotten person rewrite the tables by the rule that later syncs keep.

import type { KeyObject } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PersonalDataMode } from '../config/personal-data.ts';
import { identifiersIn } from '../contract/fields.ts';
import type { MirroredTable } from '../records/mirrored-tables.ts';
import type { Recognised } from '../records/personal-data.ts';
import { addressesIn } from './addresses-in.ts';
import { treatCoupon, treatFigures } from './json-parts.ts';
import { IDENTITY_COLUMNS, PERSONAL_COLUMNS, type PersonalKind } from './personal-columns.ts';
import { addressForms, hashValue, isHashed, normalise, saltAddress } from './values.ts';

/** The people who were forgotten, as far as it is known who they were. */
export interface Forgotten {
  readonly salt: string;
  /** As `recordKey` spells them. */
  readonly records: ReadonlySet<string>;
  /** As `saltAddress` makes them. */
  readonly addresses: ReadonlySet<string>;
}

export interface Rule {
  readonly mode: PersonalDataMode;
  readonly key: KeyObject | null;
  /** Whether hashes that are stored are of this key. */
  readonly keepsHashes: boolean;
  /** Null where nobody was forgotten. */
  readonly forgotten: Forgotten | null;
  /** What was recognised while it was read, which leads to what belongs to it; left out where nothing new comes. */
  readonly recognised?: RecognisedRecords;
}

export interface RecognisedRecords {
  has(table: string, id: string): boolean;
  add(recognised: Recognised): void;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface FieldsOf {
  readonly table: MirroredTable;
  readonly id: string;
  /** Any of the table's columns; those that are not there are left alone. */
  readonly fields: Fields;
  /** Whether they come from the mirror, and may be hashes. */
  readonly isStored: boolean;
}

export function recordKey(table: string, id: string): string {
  return `${table}/${id.toLowerCase()}`;
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

interface ValueOf extends FieldsOf {
  readonly kind: PersonalKind;
  readonly value: unknown;
  readonly isForgotten: boolean;
}

function treatValue(rule: Rule, given: ValueOf): unknown {
  if (isAnybodys(rule, given)) return undefined;
  const { kind, value, isForgotten, isStored, fields } = given;
  if (kind === 'figures') return rule.mode === 'plain' && !isForgotten ? value : treatFigures(value);
  if (kind === 'pseudonym') return isForgotten ? null : value;
  if (kind === 'coupon') {
    const { affiliate_id } = value as { affiliate_id?: unknown };
    const isTheirs = [affiliate_id, fields['affiliate_id']].some((id) => hasRecord(rule, 'affiliates', id));
    if (rule.mode === 'plain' && !isForgotten && !isTheirs && !hasHash(value)) return value;
    return treatCoupon(value as object, (name) =>
      isForgotten || isTheirs ? null : storeText(rule, name, { isAddress: false, isStored }),
    );
  }
  if (typeof value !== 'string') return null;
  const isAddress = kind !== 'text';
  if (isForgotten || (isAddress && isForgottenAddress(rule, value))) return null;
  return storeText(rule, value, { isAddress, isStored });
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
  if (kind === 'coupon') owners.push((value as { affiliate_id?: unknown }).affiliate_id);
  else if (table !== 'links') return false;
  return owners.every((owner) => typeof owner !== 'string');
}

function hasHash(coupon: unknown): boolean {
  return Object.values(coupon as object).some((value) => typeof value === 'string' && isHashed(value));
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

function isOfForgotten(rule: Rule, { table, id, fields }: FieldsOf): boolean {
  const { forgotten, recognised } = rule;
  if (forgotten === null) return false;
  if (hasRecord(rule, table, id)) return true;
  if (table === 'links') {
    const { affiliate_id: affiliateId } = fields;
    if (!hasRecord(rule, 'affiliates', affiliateId)) return false;
    // It may come again in a record that does not say whose it is.
    recognised?.add({ table, id, addressHash: null, affiliateId: affiliateId as string });
    return true;
  }
  if (table !== 'affiliates' && table !== 'referrals') return false;
  for (const column of IDENTITY_COLUMNS[table]) {
    const value = fields[column];
    const addressHash = typeof value === 'string' ? findForgottenAddress(rule, value) : undefined;
    if (addressHash === undefined) continue;
    recognised?.add({ table, id, addressHash, affiliateId: null });
    return true;
  }
  return false;
}

function hasRecord({ forgotten, recognised }: Rule, table: MirroredTable, id: unknown): boolean {
  if (forgotten === null || typeof id !== 'string') return false;
  return forgotten.records.has(recordKey(table, id)) || recognised?.has(table, id) === true;
}

function isForgottenAddress(rule: Rule, value: string): boolean {
  return findForgottenAddress(rule, value) !== undefined;
}

/** Returns the hash of the address as it is kept. */
function findForgottenAddress({ forgotten, key }: Rule, value: string): string | undefined {
  if (forgotten === null || forgotten.addresses.size === 0) return undefined;
  return addressForms(key, value)
    .map((form) => saltAddress(forgotten.salt, form))
    .find((hash) => forgotten.addresses.has(hash));
}

const PERSON_TABLES = ['affiliates', 'referrals', 'links'] as const;

/** Returns whether a text names somebody who was forgotten, by an address or an identifier. */
export function mentionsForgotten(rule: Rule, text: string): boolean {
  const { forgotten } = rule;
  if (forgotten === null) return false;
  if ([...addressesIn(text)].some((address) => isForgottenAddress(rule, address))) return true;
  return identifiersIn(text).some((id) => PERSON_TABLES.some((table) => hasRecord(rule, table, id)));
}
