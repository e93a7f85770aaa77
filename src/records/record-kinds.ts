// What each kind of record holds: its own fields, the records nested in it, and where they go. All of it follows from
// the contract's declaration.

import { z } from 'zod';
import { type Fields, isValue } from '../contract/declare.ts';
import { RECORDS } from '../contract/records.ts';
import { REFERRAL } from '../contract/referral.ts';
import { type FastCheck, makeFastCheck } from './fast-check.ts';
import { byTable, COLUMN_NAMES, type MirroredTable } from './mirrored-tables.ts';

/** A field, and the place of its column among the table's. */
export interface Placed {
  readonly field: string;
  readonly place: number;
}

/** Of a nested record, the place is that of `<field>_id`; a list's records point back by a column of their own. */
export interface Nesting extends Placed {
  readonly table: MirroredTable;
  readonly isList: boolean;
}

export interface RecordKind {
  readonly table: MirroredTable;
  /** Checks the record's own fields; nested records are checked as records of their own kind. */
  readonly schema: z.ZodObject;
  /** Passes most records that the schema accepts, fast; see fast-check.ts. */
  readonly isPlain: FastCheck;
  readonly nested: readonly Nesting[];
  readonly nestedFields: readonly string[];
  /** Every field that the schema above knows. */
  readonly ownFields: ReadonlySet<string>;
  /** The own fields that have a column: all but the customer. */
  readonly placed: readonly Placed[];
  /** The customer is no record: its fields become columns of the referral. Empty in every other kind. */
  readonly customer: readonly Placed[];
  /** Where the affiliate that a record belongs to is kept; -1 where the kind has no such column. */
  readonly ownerPlace: number;
  /** Own fields that the contract's tables promise in every record; a nested view may be shorter. */
  readonly promised: readonly string[];
}

const CUSTOMER = 'customer';

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
  // What is only seen in the wild is not promised, and what is expanded is there where it was asked for.
  const isPromised = (field: string) =>
    !['seen in the wild', 'expanded'].includes(fields[field]?.presence ?? '');
  return {
    table,
    schema: ownSchema,
    isPlain: makeFastCheck(ownSchema),
    nested,
    nestedFields,
    ownFields: new Set(ownFields),
    placed: ownFields
      .filter((field) => field !== CUSTOMER)
      .map((field) => ({ field, place: placeOf(field) })),
    customer: ownFields.includes(CUSTOMER)
      ? CUSTOMER_FIELDS.map((field) => ({ field, place: placeOf(`${CUSTOMER}_${field}`) }))
      : [],
    ownerPlace: placeOf('affiliate_id'),
    promised: ownFields.filter(isPromised),
  };
}
