import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { print, printError } from '../../../src/cli/output/print.ts';
import { renderCsv, renderTable, type TableCell } from '../../../src/cli/output/render-table.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';

test('any table is read from its CSV as it was', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\r', '\n', ';', '\ufeff') }),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text, text)), (rows) => {
      const csv = renderCsv(['a', 'b', 'c'], rows);
      expect(parse(csv, { record_delimiter: '\r\n' })).toEqual([['a', 'b', 'c'], ...rows]);
    }),
    { examples: [[[['\n', '\r', '']]], [[['', '', '']]], [[['"', '""', '\ufeff']]]] },
  );
});

const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const HEADER = ['request', 'commission', 'amount', 'asked', 'state'];
const ROWS: TableCell[][] = [['12', ID, { figure: '12,345.67 USD' }, 'pay 2026-10-01T12:00:00Z', 'applied']];

function tableOn(columns: number, ...[header, rows]: Parameters<typeof renderTable>): string[] {
  const { stdout } = fakeTerminal(columns);
  print(renderTable(header, rows));
  return stdout.join('').trimEnd().split('\n');
}

test('a table is printed whole, on a narrow terminal as in a pipe: no column goes, and no figure is broken', () => {
  const whole = tableOn(Number.POSITIVE_INFINITY, HEADER, ROWS);
  for (const title of HEADER) expect(whole[1]).toContain(title);
  expect(whole[3]).toBe(`│ 12      │ ${ID} │ 12,345.67 USD │ pay 2026-10-01T12:00:00Z │ applied │`);
  for (const columns of [40, 80, 200]) expect(tableOn(columns, HEADER, ROWS)).toEqual(whole);
});

test('a long list is complete, and headed again after each thousand rows', () => {
  const rows = Array.from({ length: 2_001 }, (_, index) => [`row ${index}`, index]);
  const lines = tableOn(80, ['name', 'number'], rows);
  expect(lines.filter((line) => line.includes('number'))).toHaveLength(3);
  expect(lines.flatMap((line) => /row \d+/.exec(line) ?? [])).toEqual(rows.map(([name]) => name));
});

test('what others wrote moves no cursor, and hides no row', () => {
  const name = 'Eve\u001B[1A\u001B[2K\u009B31m\r\u0007 \u202Etxet\tend';
  const rows: TableCell[][] = [
    ['Ada', { figure: '83.95 USD' }],
    [name, { figure: '1.00 U\u001B[31m' }],
  ];
  for (const columns of [40, Number.POSITIVE_INFINITY]) {
    const text = tableOn(columns, ['affiliate', 'payable'], rows).join('\n');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
    expect(text).toMatch(/Ada +│ +83\.95 USD/);
  }
  const { stdout, stderr } = fakeTerminal(80);
  print(`one\n${name}`);
  printError(name);
  const shown = 'Eve\uFFFD[1A\uFFFD[2K\uFFFD31m\uFFFD\uFFFD \uFFFDtxet end\n';
  expect([stdout, stderr]).toEqual([[`one\n${shown}`], [shown]]);
});
