// Writes a table as a file for people: CSV that no spreadsheet runs, or an Excel workbook whose dates are dates and
// whose numbers are numbers.

import { buffer } from 'node:stream/consumers';
import { stringify } from 'csv-stringify/sync';
import { withApostrophe } from '../../commissions/files/formula-guard.ts';
import type { RawCell } from '../../commissions/files/raw-table.ts';
import { ConfigError } from '../../errors.ts';
import { LARGEST_NUMBER, LONGEST_TEXT, spellForXml } from '../../exports/formats/workbook-text.ts';

export const WRITTEN_FORMATS = ['csv', 'xlsx'] as const;

export type WrittenFormat = (typeof WRITTEN_FORMATS)[number];

export interface WrittenTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly RawCell[])[];
}

/** How a CSV is written; a spreadsheet in German wants a semicolon and a comma before the decimals. */
export interface CsvForm {
  readonly delimiter: string;
  /** Whether the file begins with a byte order mark, without which Excel does not take it for UTF-8. */
  readonly hasMark: boolean;
  readonly decimal: ',' | '.';
}

/** Returns the format that the end of the path names. Throws: ConfigError. */
export function formatOf(path: string): WrittenFormat {
  const format = WRITTEN_FORMATS.find((known) => path.toLowerCase().endsWith(`.${known}`));
  if (format === undefined) throw new ConfigError([`the name ${path} must end in .csv or .xlsx`]);
  return format;
}

/** Returns the table as CSV (RFC 4180). A date is ISO 8601 without a zone, as it came. */
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

/** No column is wider, and none narrower. */
const WIDTHS = { least: 10, most: 60 };

/** Returns the table as an Excel workbook with one sheet. `formats` has Excel's number formats, by column. */
export async function writeWorkbook(
  { header, rows }: WrittenTable,
  formats: ReadonlyMap<string, string> = new Map(),
): Promise<Buffer> {
  // Loading it takes longer than most commands.
  const { writeXlsxStream } = await import('hucre/xlsx');
  const columns = header.map((name, index) => {
    const cells = rows.map((row) => row[index] ?? null);
    const format = formats.get(name) ?? dateFormatOf(cells);
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

// A format is that of the whole column: numbers beside dates would become dates themselves, so then the dates are text.
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
