// The columns of each mirrored table that hold the API's values, with their SQL types: one for each field that the
// contract declares, and one for the identifier of each nested record.

import type { Fields, FieldType } from '../contract/declare.ts';
import { columnsOf, RECORDS } from '../contract/records.ts';

/** The SQL types that occur in mirrored tables. */
export type ColumnType = 'text' | 'timestamptz' | 'bigint' | 'double precision' | 'boolean' | 'jsonb';

const SQL_TYPES: Readonly<Record<FieldType, ColumnType>> = {
  identifier: 'text',
  text: 'text',
  timestamp: 'timestamptz',
  integer: 'bigint',
  number: 'double precision',
  boolean: 'boolean',
  json: 'jsonb',
};

export type MirroredTable = keyof typeof RECORDS;

/** The tables in the order of RECORDS, which every load keeps: two loads then never wait for each other. */
export const LOAD_ORDER = Object.keys(RECORDS) as readonly MirroredTable[];

/** The column of the record that lists a table's records: the affiliate of a link, the payout of a commission. */
export const OWNERS: Readonly<Partial<Record<MirroredTable, string>>> = Object.fromEntries(
  Object.values(RECORDS).flatMap(({ table, fields }: { table: string; fields: Fields }) =>
    Object.values(fields).flatMap((field) =>
      field.type === 'list' ? [[field.table, `${table.slice(0, -1)}_id`]] : [],
    ),
  ),
);

/** The columns of each table by name. The first is the identifier. */
export const COLUMN_TYPES = byTable((table): Readonly<Record<string, ColumnType>> => {
  const { fields } = RECORDS[table];
  const values = columnsOf(fields).map(([column, { type }]) => [column, SQL_TYPES[type]]);
  const nested = Object.entries(fields).filter(([, { type }]) => type === 'one');
  return {
    ...Object.fromEntries(values),
    ...Object.fromEntries(nested.map(([name]) => [`${name}_id`, 'text'])),
    ...(OWNERS[table] ? { [OWNERS[table]]: 'text' } : {}),
  };
});

/** The names of each table's columns in order: a row's values are in this order. */
export const COLUMN_NAMES = byTable((table): readonly string[] => Object.keys(COLUMN_TYPES[table]));

const TYPES = byTable((table): readonly ColumnType[] => Object.values(COLUMN_TYPES[table]));

/** Returns the type of the column at the place. */
export function typeAt(table: MirroredTable, place: number): ColumnType {
  const type = TYPES[table][place];
  if (type === undefined) throw new TypeError(`${table} has no column ${place}`);
  return type;
}

/** Returns what is made for each mirrored table, by table. */
export function byTable<T>(make: (table: MirroredTable) => T): Readonly<Record<MirroredTable, T>> {
  return Object.fromEntries(LOAD_ORDER.map((table) => [table, make(table)])) as Record<MirroredTable, T>;
}
