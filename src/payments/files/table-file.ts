// Reads the table of a file (CSV, an Excel workbook) as named cells with their line numbers.

import { counted, formatCount } from '../../contract/format.ts';
import {
  brokenTable,
  columnLetters,
  describeNames,
  type Problem,
  type RawCell,
  type RawRow,
  type RawTable,
  spellCell,
  type TableForm,
} from './raw-table.ts';
import {
  type Columns,
  findUnknownConditions,
  makeColumnFinder,
  makeFilter,
  resolveHeader,
} from './table-columns.ts';

export interface TableLine {
  readonly line: number;
  /** By column; every value trimmed, an empty one left out. A date of Excel is ISO 8601 without a zone. */
  readonly cells: ReadonlyMap<string, string>;
  /** The columns whose cell is a number, and not a text that may be one. */
  readonly numbers: ReadonlySet<string>;
  /** The columns whose cell is a date of Excel, and not a text that may be one. */
  readonly dates: ReadonlySet<string>;
}

export interface TableFile {
  readonly form: TableForm;
  /** The file's own names of its columns. */
  readonly header: readonly string[];
  /** Every row that is meant, as it is in the file. */
  readonly rows: readonly RawRow[];
  /** The others: those that do not meet the conditions. */
  readonly leftOut: readonly RawRow[];
  readonly lines: readonly TableLine[];
  readonly problems: readonly Problem[];
  /** See RawTable. */
  readonly notes: readonly string[];
}

/** Returns the lines with every problem of the file's form, which its content decides, and not its name. */
export async function readTableFile(bytes: Uint8Array, columns: Columns): Promise<TableFile> {
  const raw = await readRaw(bytes, columns);
  const { form } = raw;
  const nothing = { ...raw, header: [], rows: [], leftOut: [], lines: [] };
  if (raw.header === null) return { ...nothing, problems: raw.problems };
  const header = raw.header.names;
  const { names, ignored, problems: named } = resolveHeader(header, columns);
  const ofHeader = [
    ...named,
    ...findUnknownConditions(header, columns.only),
    ...findUnnamed(header, raw.rows, columns),
  ];
  // Under a header that cannot be read, every line would be reported because of it.
  if (ofHeader.length > 0) {
    const { line } = raw.header;
    return { ...nothing, problems: [...ofHeader.map((problem) => ({ line, problem })), ...raw.problems] };
  }
  const filled = raw.rows.filter(({ cells }) => cells.some((cell) => cell !== null && cell !== ''));
  const isWhole = ({ cells }: RawRow) => cells.length === names.length || form.kind === 'xlsx';
  const isMeant = makeFilter(header, columns.only);
  // The content of a row that could not be split is not known, so it counts as meant.
  const [rows, leftOut] = [
    filled.filter((row) => !isWhole(row) || isMeant(row)),
    filled.filter((row) => isWhole(row) && !isMeant(row)),
  ];
  const isLeftOut = new Set<number | null>(leftOut.map(({ line }) => line));
  const problems = raw.problems.filter(({ line }) => !isLeftOut.has(line));
  if (rows.length === 0 && leftOut.length > 0) {
    problems.push({ line: null, problem: `--only leaves none of its ${counted(leftOut.length, 'row')}` });
  }
  const lines = rows.flatMap((row) => {
    const { line, cells } = row;
    if (isWhole(row)) return [nameCells(line, cells, names, columns)];
    const problem = `has ${counted(cells.length, 'cell')} where the header has ${names.length}: a separator or a quote is missing, or one too many`;
    problems.push({ line, problem });
    return [];
  });
  return {
    form,
    header,
    rows,
    leftOut,
    lines,
    problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    notes: [
      ...raw.notes,
      ...describeNames(
        'not read: the column',
        ignored.filter((name) => !columns.isOurs(name)),
      ),
      ...(leftOut.length === 0
        ? []
        : [`${formatCount(leftOut.length)} of ${counted(filled.length, 'row')} left out by --only`]),
    ],
  };
}

// A guard without its name would be one that is silently not there.
function findUnnamed(header: readonly string[], rows: readonly RawRow[], { guards }: Columns): string[] {
  if (guards.length === 0) return [];
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), 0);
  const hasValue = (column: number) => rows.some(({ cells }) => spellCell(cells[column] ?? null) !== '');
  return Array.from({ length: width }, (_, column) => column)
    .filter((column) => (header[column] ?? '').trim() === '' && hasValue(column))
    .map((column) => `column ${columnLetters(column)} has values and no name: give it one, or empty it`);
}

function nameCells(
  line: number,
  values: readonly RawCell[],
  names: readonly (string | null)[],
  { filled }: Columns,
): TableLine {
  const cells = new Map(filled);
  const numbers = new Set<string>();
  const dates = new Set<string>();
  names.forEach((name, index) => {
    const value = values[index] ?? null;
    if (name === null) return;
    const text = spellCell(value);
    if (text === '') return;
    cells.set(name, text);
    if (typeof value === 'number') numbers.add(name);
    if (value instanceof Date) dates.add(name);
  });
  return { line, cells, numbers, dates };
}

const ZIP = Buffer.from('PK\x03\x04', 'latin1');
/** The beginning of an OLE file: .xls, and also an .xlsx that is protected by a password. */
const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/** Loads only the reader of the file's format. */
async function readRaw(bytes: Uint8Array, columns: Columns): Promise<RawTable> {
  const begin = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 100));
  const find = makeColumnFinder(columns);
  if (begin.subarray(0, OLE.length).equals(OLE)) {
    return brokenTable(
      { kind: 'xlsx' },
      'this is an old Excel workbook (.xls), or one with a password: save it as "Excel Workbook (.xlsx)" without one',
    );
  }
  if (begin.subarray(0, ZIP.length).equals(ZIP)) {
    const { readWorkbook } = await import('./workbook-table.ts');
    return await readWorkbook(bytes, find);
  }
  const csv = { kind: 'csv', delimiter: ',' } as const;
  if (bytes.byteLength === 0) return brokenTable(csv, 'the file is empty');
  const text = decode(bytes);
  if (text === null) {
    return brokenTable(csv, 'the file is not UTF-8: save it as "CSV UTF-8" (spreadsheets)');
  }
  const start = text.trimStart();
  if (start === '') return brokenTable(csv, 'the file is empty');
  if (/^[[{]/.test(start))
    return brokenTable(csv, 'the file is JSON: write CSV or an Excel workbook instead');
  const { readCsv } = await import('./csv-table.ts');
  return readCsv(text, find);
}

function decode(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // UTF-16 is sometimes valid UTF-8, full of NULs.
    if (text.includes('\0')) return null;
    return text.replace(/\r\n?/g, '\n');
  } catch {
    return null;
  }
}
