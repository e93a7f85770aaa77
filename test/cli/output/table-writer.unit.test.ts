// Files for people: what they hold comes back as it was, and no spreadsheet runs any of it.

import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeCsv, writeWorkbook } from '../../../src/cli/output/table-writer.ts';
import { readCsv } from '../../../src/payments/files/csv-table.ts';
import { readWorkbook } from '../../../src/payments/files/workbook-table.ts';
import { sized } from '../../support/sizes.ts';
import { readSheet } from '../../support/workbook-parts.ts';

const begins = fc.constantFrom('', '=', '+', '-', '@', "'", "'=", "''-", '-5', '+1,5', '_x0041_', '_x005F_');
const text = fc
  .tuple(begins, fc.string({ unit: 'grapheme', maxLength: 12 }))
  .map((parts) => parts.join('').trim())
  .filter((value) => value.isWellFormed() && !/[\p{Cc}\ufffe\uffff]/u.test(value));

test('any text comes back from CSV as it was, and none of it begins as a formula', () => {
  const form = { delimiter: ',', hasMark: false, decimal: '.' } as const;
  expect(writeCsv({ header: ['=1+1', '@cmd', 'name'], rows: [] }, form).toString()).toBe(
    "'=1+1,'@cmd,name\r\n",
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(',', ';', '\t'),
      fc.boolean(),
      (rows, delimiter, hasMark) => {
        const bytes = writeCsv({ header: ['one', 'two'], rows }, { delimiter, hasMark, decimal: ',' });
        const cells: string[][] = parse(bytes, { delimiter, bom: true, from_line: 2 });
        for (const cell of cells.flat()) expect(cell).not.toMatch(/^[=@\t\r]|^[+-](?![\d.,]+$)/);
        const back = readCsv(bytes.toString().replace('\uFEFF', '').replaceAll('\r\n', '\n'), (name) =>
          ['one', 'two'].includes(name) ? name : null,
        );
        const wanted = rows.filter((row) => row.some((cell) => cell !== ''));
        expect(
          back.rows.map(({ cells: read }) => read).filter((row) => row.some((cell) => cell !== '')),
        ).toEqual(wanted);
      },
    ),
    {
      numRuns: sized(200, 2000),
      examples: [
        [[['=1+1', "'=1+1"]], ',', true],
        [[['-5', '-5%']], ';', false],
      ],
    },
  );
});

test('any text, number and date comes back from a workbook as it was, and none of it is a formula', async () => {
  const day = fc.date({ min: new Date('1950-01-01'), max: new Date('2090-01-01'), noInvalidDate: true });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, fc.double({ min: -1e9, max: 1e9, noNaN: true }), day), {
        minLength: 1,
        maxLength: 4,
      }),
      async (drawn) => {
        const rows = drawn.map(([words, number, date]) => [
          words,
          Number(number.toPrecision(12)) + 0,
          new Date(Math.floor(date.getTime() / 1000) * 1000),
        ]);
        const bytes = await writeWorkbook({ header: ['text', 'number', 'date'], rows });
        expect([...readSheet(bytes).values()].some(({ isFormula }) => isFormula)).toBe(false);
        const back = await readWorkbook(bytes, (name) => name);
        expect(back.problems).toEqual([]);
        expect(back.rows.map(({ cells }) => cells)).toEqual(
          rows.map(([words, ...rest]) => [words === '' ? null : words, ...rest]),
        );
      },
    ),
    { numRuns: sized(40, 400) },
  );
  // What no XML may hold, whoever wrote it into a name.
  const odd = await writeWorkbook({ header: ['text'], rows: [['a\ufffe\u0007b']] });
  expect(readSheet(odd).get('A2')?.value).toBe('a\ufffd_x0007_b');
});
