// What a workbook holds of numbers: Excel keeps 15 digits of each.

import { streamXlsxRows } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { MONEY } from '../../src/contract/money.ts';
import { XLSX } from '../../src/exports/formats/xlsx.ts';
import type { Column } from '../../src/exports/relation.ts';

async function* one(...row: string[]): AsyncGenerator<string[][]> {
  yield [row];
}

/** Returns the rows of a workbook of these columns and one row; with the header. */
async function write(columns: readonly Column[], ...row: string[]): Promise<unknown[][]> {
  const chunks: Uint8Array[] = [];
  const money = MONEY.minor;
  await XLSX.write({ title: 'cells', columns, money, rows: one(...row) }, async (bytes) => {
    chunks.push(bytes);
  });
  const rows: unknown[][] = [];
  for await (const { values } of streamXlsxRows(Buffer.concat(chunks))) rows.push(values);
  return rows;
}

async function cellOf(kind: Column['kind'], text: string): Promise<unknown> {
  return (await write([{ name: 'amount', type: 'bigint', kind }], text))[1]?.[0];
}

test.each([
  ['0', 0],
  ['999999999999999', 999_999_999_999_999],
  ['-999999999999999', -999_999_999_999_999],
  ['1000000000000000', '1000000000000000'],
  ['-1000000000000001', '-1000000000000001'],
  ['9007199254740991', '9007199254740991'],
  ['-9223372036854775808', '-9223372036854775808'],
])('the whole number %s is the cell %j', async (text, cell) => {
  expect(await cellOf('integer', text)).toBe(cell);
});

test('a rate is a number, however many digits it has', async () => {
  expect(await cellOf('double', '0.3333333333333333')).toBe(0.333_333_333_333_333_3);
});

test.each([
  ['EUR', '8292', 82.92],
  ['eur', '-5', -0.05],
  ['JPY', '8292', 8292],
  ['KWD', '8395', 8.395],
  ['USD', '999999999999999', 9_999_999_999_999.99],
  ['USD', '9907919180215090100', '99079191802150901.00'],
])('amounts of %s are in its own unit, under a name that says so: %s', async (currency, text, cell) => {
  const [integer, sum] = (['integer', 'sum'] as const).map((kind) => ({ type: '', kind }));
  const columns = [
    { name: 'amount', ...integer },
    { name: 'currency', type: 'text', kind: 'text' },
    { name: 'paid', ...sum },
    { name: 'commissions', ...integer },
    { name: 'paid_cents', ...sum },
  ] as Column[];
  expect(await write(columns, text, currency, text, '12', '8292')).toEqual([
    ['amount_major', 'currency', 'paid_major', 'commissions', 'paid_cents'],
    [cell, currency, cell, 12, 8292],
  ]);
});

test('times are dates in UTC, under a name that says so; a day is none', async () => {
  const columns = [
    { name: 'paid_at', type: '', kind: 'timestamp' },
    { name: 'day', type: '', kind: 'date' },
  ] as const;
  expect(await write(columns, '2026-10-31 23:30:00+00', '2026-10-31')).toEqual([
    ['paid_at_utc', 'day'],
    [new Date('2026-10-31T23:30:00Z'), new Date('2026-10-31T00:00:00Z')],
  ]);
});
