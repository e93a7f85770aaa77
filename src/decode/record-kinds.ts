// The kinds of records: their own fields, the records nested in them, and their columns, all from the contract's
// declaration.

import { z } from 'zod';
import { type Fields, isValue } from '../contract/declare.ts';
import { RECORDS } from '../contract/records.ts';
import { REFERRAL } from '../contract/referral.ts';
import { byTable, COLUMN_NAMES, type MirroredTable, OWNERS } from './mirrored-tables.ts';
import type { MirrorRow } from './rows.ts';

/** A field, and the place of its column among the table's. */
export interface Placed {
  readonly field: string;
  readonly place: number;
}

/** A field that every record should have, and the places of its columns. */
export interface Promised {
  readonly field: string;
  readonly places: readonly number[];
}

/** The place of a nested record is that of `<field>_id`; a list's records point back by a column of their own. */
export interface Nesting extends Placed {
  readonly table: MirroredTable;
  readonly isList: boolean;
}

export interface RecordKind {
  readonly table: MirroredTable;
  /** Checks the record's own fields; nested records are checked as records of their own kind. */
  readonly schema: z.ZodObject;
  readonly nested: readonly Nesting[];
  readonly nestedFields: readonly string[];
  /** Every field that the schema above knows. */
  readonly ownFields: ReadonlySet<string>;
  /** The own fields that have a column: all but the customer. */
  readonly placed: readonly Placed[];
  /** The customer is no record: its fields become columns of the referral. Empty in every other kind. */
  readonly customer: readonly Placed[];
  /** The column of the record that lists it, else of the affiliate that it belongs to; -1 if the kind has neither. */
  readonly ownerPlace: number;
  /** Own fields that the contract's tables promise in every record; a nested view may be shorter. */
  readonly promised: readonly Promised[];
  readonly promisedOfCustomer: readonly Promised[];
}

export const CUSTOMER = 'customer';

export const CUSTOMER_FIELDS: readonly string[] = Object.keys(REFERRAL.fields.customer.fields);

export const RECORD_KINDS = byTable(makeKind);

function makeKind(table: MirroredTable): RecordKind {
  const { fields, schema }: { fields: Fields; schema: z.ZodObject } = RECORDS[table];
  const placeOf = (column: string) => COLUMN_NAMES[table].indexOf(column);
  const nested = Object.entries(fields).flatMap(([field, nesting]): Nesting[] => {
    if (isValue(nesting) || nesting.table === null) return [];
    return [{ field, table: nesting.table, isList: nesting.type === 'list', place: placeOf(`${field}_id`) }];
  });
  const nestedFields = nested.map(({ field }) => field);
  const ownSchema = z.looseObject(
    Object.fromEntries(Object.entries(schema.shape).filter(([field]) => !nestedFields.includes(field))),
  );
  const ownFields = Object.keys(ownSchema.shape);
  // Fields that are only seen in the wild are not promised, nor are expanded ones, which come on request.
  const isPromised = (field: string) =>
    !['seen in the wild', 'expanded'].includes(fields[field]?.presence ?? '');
  const customer = ownFields.includes(CUSTOMER)
    ? CUSTOMER_FIELDS.map((field) => ({ field, place: placeOf(`${CUSTOMER}_${field}`) }))
    : [];
  const placed = ownFields
    .filter((field) => field !== CUSTOMER)
    .map((field) => ({ field, place: placeOf(field) }));
  return {
    table,
    schema: ownSchema,
    nested,
    nestedFields,
    ownFields: new Set(ownFields),
    placed,
    customer,
    ownerPlace: placeOf(OWNERS[table] ?? 'affiliate_id'),
    promised: [
      ...placed.map(({ field, place }) => ({ field, places: [place] })),
      { field: CUSTOMER, places: customer.map(({ place }) => place) },
    ].filter(({ field }) => ownFields.includes(field) && isPromised(field)),
    promisedOfCustomer: customer.map(({ field, place }) => ({ field, places: [place] })),
  };
}

/**
 * Returns the record that a nested one belongs to: the one that lists it, or the affiliate of the referral that came
 * through a link, which is read before its link; null if it belongs to none.
 */
export function ownerOf({ table, isList }: Nesting, kind: RecordKind, row: MirrorRow): string | null {
  if (isList) return row.id;
  const affiliate = table === 'links' ? row.values[kind.ownerPlace] : null;
  return typeof affiliate === 'string' ? affiliate : null;
}
