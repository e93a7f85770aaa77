// What a workbook holds of numbers: Excel keeps 15 digits of each.

import { streamXlsxRows } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { XLSX } from '../../src/exports/formats/xlsx.ts';
import type { Column } from '../../src/exports/relation.ts';

async function* one(...row: string[]): AsyncGenerator<string[][]> {
  yield [row];
}

async function cellOf(kind: Column['kind'], text: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  const columns = [{ name: 'amount', type: 'bigint', kind }];
  await XLSX.write({ title: 'cells', columns, rows: one(text) }, async (bytes) => {
    chunks.push(bytes);
  });
  const cells: unknown[] = [];
  for await (const { values } of streamXlsxRows(Buffer.concat(chunks))) cells.push(values[0]);
  return cells[1];
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
