import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { fitColumns } from '../../../src/cli/output/fit-columns.ts';
import { print, printError } from '../../../src/cli/output/print.ts';
import { type Cell, renderCsv, renderTable, type TableCell } from '../../../src/cli/output/render-table.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';

test('CSV quotes what would otherwise be read as another cell or another row, and nothing else', () => {
  const rows: Cell[][] = [
    ['a,b', 'say "hi"', 'two\nlines'],
    ['two\r\nlines', 'old\rline', ' spaces '],
    [null, '', 'é;\t'],
    [true, false, -12.5],
  ];
  expect(renderCsv(['id', 'the reason', 'x'], rows)).toBe(
    'id,the reason,x\r\n' +
      '"a,b","say ""hi""","two\nlines"\r\n' +
      '"two\r\nlines","old\rline", spaces \r\n' +
      ',,é;\t\r\n' +
      'true,false,-12.5',
  );
});

test('CSV of no rows is its header', () => {
  expect(renderCsv(['id', 'reason'], [])).toBe('id,reason');
});

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
const ROWS: TableCell[][] = [
  [
    '12',
    ID,
    { amount: 1_234_567, currency: 'USD', unit: 'minor' as const },
    'pay 2026-10-01T12:00:00Z',
    'applied',
  ],
];

function tableOn(columns: number, ...[header, rows, options]: Parameters<typeof renderTable>): string[] {
  fakeTerminal(columns);
  return renderTable(header, rows, options).split('\n');
}

test('a table has all its columns in a pipe and on a wide terminal', () => {
  const whole = tableOn(200, HEADER, ROWS, { mayGo: ['asked'] });
  expect(whole).toEqual(tableOn(Number.POSITIVE_INFINITY, HEADER, ROWS, { mayGo: ['asked'] }));
  for (const title of HEADER) expect(whole[1]).toContain(title);
});

test('a narrow terminal shows it without the columns that may go, in their order, and a line says so', () => {
  const lines = tableOn(80, HEADER, ROWS, { mayGo: ['asked', 'request'] });
  expect(lines[1]).toMatch(/request .*commission .*amount .*state/);
  expect(lines.at(-1)).toBe('1 column more: --json, or a wider terminal');
  const narrower = tableOn(70, HEADER, ROWS, { mayGo: ['asked', 'request'], otherwise: null });
  expect(narrower[1]).not.toContain('request');
  expect(narrower.at(-1)).toBe('2 columns more: a wider terminal');
});

test('titles are wrapped before a column goes, and texts before one goes that must stay', () => {
  const header = ['deletions held back', 'what it says'];
  const rows = [[3, 'a sentence of some length']];
  expect(tableOn(45, header, rows).length).toBeGreaterThan(tableOn(60, header, rows).length);
  const wrapped = tableOn(30, header, rows).join('\n');
  expect(wrapped).toContain('sentence');
  expect(wrapped).not.toContain('more:');
});

test('a column of long texts goes below its rows where it has no room beside the others', () => {
  const reason =
    'expected it to be unpaid, but it is paid at 2026-03-14T15:21:58.176Z: nothing was sent, as asked';
  const header = ['commission', 'state', 'reason', 'asked'];
  const rows = [
    [ID, 'conflict', reason, 'pay'],
    [ID, 'applied', null, 'pay'],
  ];
  const options = { mayGo: ['asked'], mayGoBelow: 'reason' };
  expect(tableOn(200, header, rows, options)[1]).toMatch(/commission .* state .* reason .* asked/);
  const narrow = tableOn(70, header, rows, options);
  expect(narrow.slice(3, -1)).toEqual([
    `│ ${ID} │ conflict │ pay              │`,
    '│ expected it to be unpaid, but it is paid at                        │',
    '│ 2026-03-14T15:21:58.176Z: nothing was sent, as asked               │',
    `│ ${ID} │ applied  │ pay              │`,
  ]);
  expect(tableOn(56, header, rows, options).at(-1)).toBe('1 column more: --json, or a wider terminal');
});

test('an amount is never broken in two', () => {
  for (let columns = 20; columns < 120; columns += 1) {
    const text = tableOn(columns, HEADER, ROWS, { mayGo: ['asked'] }).join('\n');
    if (text.includes('amount')) expect(text).toContain('12,345.67 USD');
  }
});

test('no table is wider than its terminal, and every box is whole', () => {
  const cell = fc.oneof(
    fc.stringMatching(/^[a-zä ]{0,30}$/),
    fc.constant(ID),
    fc.integer(),
    fc.constant(null),
    fc.record({ amount: fc.integer(), currency: fc.constant('EUR'), unit: fc.constant('minor' as const) }),
  );
  const title = fc.stringMatching(/^[a-z]{1,9}( [a-z]{1,9}){0,2}$/);
  const table = fc.uniqueArray(title, { minLength: 1, maxLength: 12 }).chain((header) =>
    fc.record({
      header: fc.constant(header),
      rows: fc.array(fc.tuple(...header.map(() => cell)), { minLength: 1, maxLength: 4 }),
      mayGo: fc.subarray(header),
      mayGoBelow: fc.option(fc.constantFrom(...header), { nil: undefined }),
      columns: fc.integer({ min: 20, max: 220 }),
    }),
  );
  fc.assert(
    fc.property(table, ({ header, rows, mayGo, mayGoBelow, columns }) => {
      const lines = tableOn(columns, header, rows, { mayGo, mayGoBelow });
      const box = lines.filter((line) => !line.includes('more:'));
      const widths = new Set(box.map((line) => stringWidth(line)));
      expect(widths.size).toBe(1);
      expect([...widths][0]).toBeLessThanOrEqual(columns);
    }),
  );
});

test('a table is in ASCII on a terminal that shows no more, and in a pipe as it is', () => {
  fakeTerminal(80, { LANG: 'C' });
  expect(renderTable(['name', 'age'], [['Zoë…', null]])).toMatch(/ Zoe\.\.\. .* - /);
  fakeTerminal(Number.POSITIVE_INFINITY, { LANG: 'C' });
  expect(renderTable(['name', 'age'], [['Zoë…', null]])).toMatch(/ Zoë… .* – /);
});

test('a long table is one box, as a short one is', () => {
  for (const rows of [99, 100, 101, 1_000]) {
    const lines = tableOn(
      60,
      HEADER,
      Array.from({ length: rows }, () => ROWS[0] ?? []),
      { mayGoBelow: 'commission', otherwise: null },
    );
    const borders = lines.filter((line) => !line.startsWith('│'));
    expect(borders.map((line) => line[0])).toEqual(['┌', '├', '└']);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines.filter((line) => line.includes(ID))).toHaveLength(rows);
  }
});

test('a column of a hundred and fifty thousand texts is measured', () => {
  const column = { title: 'commission', cells: Array<string>(150_000).fill(ID), isFigure: false };
  expect(fitColumns([column], {}, Number.POSITIVE_INFINITY).widths).toEqual([ID.length]);
  expect(fitColumns([column], {}, 20).widths).toEqual([16]);
});

test('what others wrote moves no cursor, and hides no row', () => {
  const name = 'Eve\u001B[1A\u001B[2K\u009B31m\r\u0007 \u202Etxet\tend';
  const rows: TableCell[][] = [
    ['Ada', { amount: 8395, currency: 'USD', unit: 'minor' }],
    [name, { amount: 100, currency: 'U\u001B[31m', unit: 'minor' }],
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
