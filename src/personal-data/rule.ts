// The rule by which personal data are stored, and who was forgotten, as far as it is known who they were.

import type { KeyObject } from 'node:crypto';
import type { PersonalDataMode } from '../config/personal-data.ts';
import { identifiersIn } from '../contract/fields.ts';
import type { MirroredTable } from '../records/mirrored-tables.ts';
import type { Recognised } from '../records/personal-data.ts';
import { addressesIn } from './addresses-in.ts';
import { CUSTOMER_COLUMNS, IDENTITY_COLUMNS } from './personal-columns.ts';
import { addressForms, saltAddress } from './values.ts';

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

/** A record, by any of its fields. */
export interface RecordFields {
  readonly table: MirroredTable;
  readonly id: string;
  /** Any of the table's columns; those that are not there are left alone. */
  readonly fields: Fields;
}

/** An identifier in a text, or in a coupon, may be in capitals. */
export function recordKey(table: string, id: string): string {
  return `${table}/${id.toLowerCase()}`;
}

/** Returns whether the whole record is a forgotten person's; one that was not known yet is recognised from here on. */
export function isOfForgotten(rule: Rule, { table, id, fields }: RecordFields): boolean {
  if (rule.forgotten === null) return false;
  if (hasRecord(rule, table, id)) return true;
  const found = recogniseLink(rule, { table, id, fields }) ?? recogniseAddress(rule, { table, id, fields });
  if (found === null) return false;
  rule.recognised?.add(found);
  return true;
}

/** A link of a forgotten affiliate: it may come again in a record that does not say whose it is. */
function recogniseLink(rule: Rule, { table, id, fields }: RecordFields): Recognised | null {
  const { affiliate_id: affiliateId } = fields;
  if (table !== 'links' || typeof affiliateId !== 'string') return null;
  if (!hasRecord(rule, 'affiliates', affiliateId)) return null;
  return { table, id, addressHash: null, affiliateId };
}

/** A record with an address, or with the identifier of a customer, by which a forgotten person is known. */
function recogniseAddress(rule: Rule, { table, id, fields }: RecordFields): Recognised | null {
  if (table !== 'affiliates' && table !== 'referrals') return null;
  const columns = [...IDENTITY_COLUMNS[table], ...CUSTOMER_COLUMNS[table]];
  for (const value of new Set(columns.map((column) => fields[column]))) {
    const addressHash = typeof value === 'string' ? findForgottenAddress(rule, value) : undefined;
    if (addressHash !== undefined) return { table, id, addressHash, affiliateId: null };
  }
  return null;
}

/** Returns whether it is the identifier of a record of a forgotten person. */
export function hasRecord({ forgotten, recognised }: Rule, table: MirroredTable, id: unknown): boolean {
  if (forgotten === null || typeof id !== 'string') return false;
  return forgotten.records.has(recordKey(table, id)) || recognised?.has(table, id) === true;
}

/** Returns whether the text is an address of a forgotten person. */
export function isForgottenAddress(rule: Rule, value: string): boolean {
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
