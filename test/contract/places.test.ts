// That each field which the contract's code declares has what stays written by hand: its column with a comment, its line
// in the reports' view, and its place in docs/api-contract.md.

import { expect, test } from 'vitest';
import { columnsOf, RECORDS } from '../../src/contract/records.ts';
import { COLUMN_TYPES, type MirroredTable } from '../../src/decode/mirrored-tables.ts';
import { createTestDatabase } from '../support/database.ts';
import { PAGES } from '../support/read-docs.ts';

const COLUMNS = 'migrations/0001_mirrored_tables.sql';
const VIEWS = 'migrations/reports/records.sql';
const CONTRACT = 'docs/api-contract.md';

/** JSON of which the reports show no more than single figures. */
const IN_NO_VIEW = ['affiliates.commission_stats', 'referrals.coupon'];

interface Column {
  readonly type: string;
  readonly comment: string | null;
}

async function readColumns(schema: string): Promise<ReadonlyMap<string, Column>> {
  const { pool } = await createTestDatabase();
  const { rows } = await pool.query<Column & { name: string }>(
    `select relname || '.' || attname as name, format_type(atttypid, null) as type,
            col_description(attrelid, attnum) as comment
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = $1::regnamespace and attnum > 0 and not attisdropped`,
    [schema],
  );
  return new Map(rows.map(({ name, ...column }) => [name, column]));
}

const SPELLED: Readonly<Record<string, string>> = { 'timestamp with time zone': 'timestamptz' };

test('every declared field has its column, its comment, its line in the view and its place in the contract', async () => {
  const [tables, views] = [await readColumns('mirror'), await readColumns('mirror_reports')];
  const page = PAGES.find(({ path }) => path === CONTRACT)?.text ?? '';
  const lacking = Object.entries(RECORDS).flatMap(([table, { fields }]) =>
    columnsOf(fields).flatMap(([column, { meaning }]) => {
      const name = `${table}.${column}`;
      const type = COLUMN_TYPES[table as MirroredTable][column] ?? '';
      const found = tables.get(name);
      const foundType = SPELLED[found?.type ?? ''] ?? found?.type;
      const field = column.startsWith('customer_') ? column.replace('customer_', '') : column;
      return [
        ...(foundType === type ? [] : [`${COLUMNS} needs the column ${name} of type ${type}: ${meaning}`]),
        ...(found?.comment ? [] : [`${COLUMNS} needs a comment on ${name}: ${meaning}`]),
        ...(views.has(name) || IN_NO_VIEW.includes(name)
          ? []
          : [`${VIEWS} needs ${column} in the view ${table}`]),
        ...(new RegExp(`\\b${field}\\b`).test(page)
          ? []
          : [`${CONTRACT} needs a line for ${name}: ${meaning}`]),
      ];
    }),
  );
  expect(lacking).toEqual([]);
});
