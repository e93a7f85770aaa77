// Writes a table as a file for people: CSV without formulas, or an Excel workbook with dates and numbers as such.

import { buffer } from 'node:stream/consumers';
import { stringify } from 'csv-stringify/sync';
import { ConfigError } from '../../base/errors.ts';
import { LARGEST_NUMBER, LONGEST_TEXT, spellForXml } from '../../exports/formats/workbook-text.ts';
import { withApostrophe } from '../../payments/files/formula-guard.ts';
import type { RawCell } from '../../payments/files/raw-table.ts';

export const WRITTEN_FORMATS = ['csv', 'xlsx'] as const;

export type WrittenFormat = (typeof WRITTEN_FORMATS)[number];

export interface WrittenTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly RawCell[])[];
  /** Excel's number formats, by column; else there are none but those of dates. */
  readonly formats?: ReadonlyMap<string, string>;
}

/** A German spreadsheet needs a semicolon, and a comma before the decimals. */
export interface CsvForm {
  readonly delimiter: string;
  /** Whether the file begins with a byte order mark: Excel needs one to read UTF-8. */
  readonly hasMark: boolean;
  readonly decimal: ',' | '.';
}

/** Returns the format that the end of the path names. Throws: ConfigError. */
export function formatOf(path: string): WrittenFormat {
  const format = WRITTEN_FORMATS.find((known) => path.toLowerCase().endsWith(`.${known}`));
  if (format === undefined) throw new ConfigError([`the name ${path} must end in .csv or .xlsx`]);
  return format;
}

/** Returns the table as CSV (RFC 4180). A date is ISO 8601 without a zone. */
export function writeCsv({ header, rows }: WrittenTable, { delimiter, hasMark, decimal }: CsvForm): Buffer {
  const spell = (cell: RawCell): string => {
    if (cell === null) return '';
    if (typeof cell === 'number') return String(cell).replace('.', decimal);
    return withApostrophe(cell instanceof Date ? spellDate(cell) : String(cell));
  };
  const text = stringify([header.map(withApostrophe), ...rows.map((row) => row.map(spell))], {
    delimiter,
    bom: hasMark,
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
  });
  return Buffer.from(text);
}

/** Characters of a column. */
const WIDTHS = { least: 10, most: 60 };

/** Returns Excel's number format for amounts with so many digits after the point. */
export function amountFormat(digits: number): string {
  return digits === 0 ? '#,##0' : `#,##0.${'0'.repeat(digits)}`;
}

/** Returns the table as an Excel workbook with one sheet. */
export async function writeWorkbook({ header, rows, formats }: WrittenTable): Promise<Buffer> {
  // It takes longer to load than most commands take to run.
  const { writeXlsxStream } = await import('hucre/xlsx');
  const columns = header.map((name, index) => {
    const cells = rows.map((row) => row[index] ?? null);
    const format = formats?.get(name) ?? dateFormatOf(cells);
    const longest = Math.max(name.length, ...cells.slice(0, 1000).map((cell) => String(cell ?? '').length));
    return {
      width: cells.some(isDate) ? 20 : Math.min(WIDTHS.most, Math.max(WIDTHS.least, longest + 2)),
      ...(format !== null && { numFmt: format }),
    };
  });
  const written = rows.map((row) =>
    header.map((_, index) => writeCell(row[index] ?? null, columns[index]?.numFmt !== undefined)),
  );
  const stream = writeXlsxStream([[...header], ...written], {
    name: 'Commissions',
    columns,
    freezePane: { rows: 1 },
  });
  return await buffer(stream);
}

// A format is one of a whole column, and would make dates of numbers: in a column with both, dates are text.
function dateFormatOf(cells: readonly RawCell[]): string | null {
  const dates = cells.filter(isDate);
  if (dates.length === 0 || cells.some((cell) => typeof cell === 'number')) return null;
  return dates.every((date) => date.getTime() % 86_400_000 === 0) ? 'yyyy-mm-dd' : 'yyyy-mm-dd hh:mm:ss';
}

function writeCell(cell: RawCell, isFormatted: boolean): RawCell {
  if (isDate(cell)) return isFormatted ? cell : spellDate(cell);
  if (typeof cell === 'number' && Math.abs(cell) > LARGEST_NUMBER) return String(cell);
  return typeof cell === 'string' ? spellForXml(cell.slice(0, LONGEST_TEXT)) : cell;
}

function isDate(cell: RawCell): cell is Date {
  return cell instanceof Date;
}

function spellDate(date: Date): string {
  return date.toISOString().replace(/(T00:00:00)?(\.000)?Z$/, '');
}
