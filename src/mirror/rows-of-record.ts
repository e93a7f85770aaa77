// Turns one checked record into the row of its table. Knows columns, fields and what is left over; no nested
// record, no statement.

import { COLUMNS, type MirroredTable } from './mirrored-tables.ts';
import { CUSTOMER_COLUMNS, type RecordKind } from './record-kinds.ts';

/** A record that was checked: an object with an identifier. */
export type CheckedRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * Shape: only the columns that the record carried. A column that is absent says nothing, and the load leaves it
 * alone: a nested record is a partial view.
 */
export interface MirrorRow {
  readonly table: MirroredTable;
  readonly id: string;
  /** Columns of the table by name, id included. */
  readonly columns: Record<string, unknown>;
  /** Fields that the contract does not know; null where there are none. */
  readonly extra: Readonly<Record<string, unknown>> | null;
  /** Microseconds since 1970. */
  readonly observedAtMicros: number;
}

/**
 * Gives back the row of a record. The identifiers of nested records are not in it yet.
 * A referral's customer becomes the four customer_* columns, all null where there is none.
 */
export function toRow(kind: RecordKind, record: CheckedRecord, observedAtMicros: number): MirrorRow {
  const { table } = kind;
  const columns: Record<string, unknown> = {};
  const extra: [string, unknown][] = [];
  for (const field of Object.keys(record)) {
    const value = record[field];
    if (!kind.ownFields.has(field)) {
      if (!kind.nestedFields.includes(field)) extra.push([field, value]);
    } else if (COLUMNS[table].has(field)) {
      columns[field] = value;
    } else {
      // The customer is the one own field that is no column.
      const unknown = addCustomer(columns, value);
      if (unknown.length > 0) extra.push([field, Object.fromEntries(unknown)]);
    }
  }
  return {
    table,
    id: record.id,
    columns,
    extra: extra.length === 0 ? null : Object.fromEntries(extra),
    observedAtMicros,
  };
}

function addCustomer(columns: Record<string, unknown>, customer: unknown): [string, unknown][] {
  if (customer === null || typeof customer !== 'object') {
    for (const column of CUSTOMER_COLUMNS.values()) columns[column] = null;
    return [];
  }
  const unknown: [string, unknown][] = [];
  for (const field of Object.keys(customer)) {
    const value: unknown = customer[field as keyof typeof customer];
    const column = CUSTOMER_COLUMNS.get(field);
    if (column === undefined) unknown.push([field, value]);
    else columns[column] = value;
  }
  return unknown;
}
