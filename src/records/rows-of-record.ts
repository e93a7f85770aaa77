// Turns one checked record, without those nested in it, into the row of its table.

import { COLUMN_NAMES, COLUMN_TYPES, type MirroredTable } from './mirrored-tables.ts';
import { CUSTOMER_FIELDS, type Placed, type RecordKind } from './record-kinds.ts';
import { NO_SPANS, type Spans, valueAt } from './spans.ts';

/** A record that was checked: an object with an identifier. */
export type CheckedRecord = Readonly<Record<string, unknown>> & { readonly id: string };

export interface MirrorRow {
  readonly table: MirroredTable;
  readonly id: string;
  /**
   * In the order of the table's columns. What the record did not have is undefined, and is left alone by the
   * load: a nested record is a partial view. So is what is in the spans.
   */
  readonly values: unknown[];
  /** Values that are still in the bytes of their page. */
  readonly spans: Spans;
  /** Fields that the contract does not know; null where there are none. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  /** Microseconds since 1970. */
  readonly observedAtMicros: number;
}

/**
 * Returns the row of a record. The identifiers of nested records are not in it yet.
 * A referral's customer becomes the four customer_* columns, all null where there is none.
 */
export function toRow(kind: RecordKind, record: CheckedRecord, observedAtMicros: number): MirrorRow {
  const { table } = kind;
  const values: unknown[] = new Array(COLUMN_NAMES[table].length).fill(undefined);
  place(kind.placed, record, values);
  const extra = unknownFields(record, kind.ownFields, kind.nestedFields);
  if (kind.customer.length > 0) {
    const unknown = addCustomer(kind.customer, record['customer'], values);
    if (unknown !== null) extra.push(['customer', unknown]);
  }
  return {
    table,
    id: record.id,
    values,
    spans: NO_SPANS,
    extra: extra.length === 0 ? null : Object.fromEntries(extra),
    observedAtMicros,
  };
}

function place(fields: readonly Placed[], from: Readonly<Record<string, unknown>>, values: unknown[]): void {
  for (const { field, place } of fields) values[place] = from[field];
}

const KNOWN_OF_CUSTOMER: ReadonlySet<string> = new Set(CUSTOMER_FIELDS);

/** Adds the customer's columns, and returns what it has beyond them; null where there is nothing. */
function addCustomer(columns: readonly Placed[], customer: unknown, values: unknown[]): object | null {
  if (customer === undefined) return null;
  if (customer === null) {
    for (const { place } of columns) values[place] = null;
    return null;
  }
  place(columns, customer as Readonly<Record<string, unknown>>, values);
  const unknown = unknownFields(customer, KNOWN_OF_CUSTOMER, []);
  return unknown.length === 0 ? null : Object.fromEntries(unknown);
}

function unknownFields(
  record: object,
  known: ReadonlySet<string>,
  nested: readonly string[],
): [string, unknown][] {
  const unknown: [string, unknown][] = [];
  for (const field in record) {
    if (!known.has(field) && !nested.includes(field)) {
      unknown.push([field, record[field as keyof typeof record]]);
    }
  }
  return unknown;
}

/** Returns the row with all of its values, none of them in spans. */
export function withoutSpans(row: MirrorRow): MirrorRow {
  const { table, spans, values } = row;
  if (spans === NO_SPANS) return row;
  const whole = COLUMN_NAMES[table].map((name, place) => {
    const value = valueAt(spans, COLUMN_TYPES[table][name], place);
    return value === undefined ? values[place] : value;
  });
  return { ...row, values: whole, spans: NO_SPANS };
}
