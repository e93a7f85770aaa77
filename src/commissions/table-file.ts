// Reads a table out of a file, CSV or one JSON object a line, as named cells with their line numbers. Pure.

import { CsvError, type Info, parse } from 'csv-parse/sync';
import { quote } from './read-timestamp.ts';

/** Something wrong with the file; `line` is null where it is the file as a whole. */
export interface Problem {
  readonly line: number | null;
  readonly problem: string;
}

export interface TableLine {
  readonly line: number;
  /** By column; every value trimmed, an empty one left out. */
  readonly cells: ReadonlyMap<string, string>;
}

export interface TableFile {
  readonly lines: readonly TableLine[];
  readonly problems: readonly Problem[];
}

export interface Columns {
  /** All columns that may be there. */
  readonly known: readonly string[];
  /** Those without which nothing can be read. */
  readonly required: readonly string[];
  /** Whether there may be others, which are not read. */
  readonly othersAllowed: boolean;
}

const DELIMITERS = [',', ';', '\t'] as const;

/** Returns the lines with every problem of the file's form. */
export function readTableFile(bytes: Uint8Array, columns: Columns): TableFile {
  const text = decode(bytes);
  if (text === null) {
    return broken(
      'the file is not UTF-8: save it as "CSV UTF-8" (spreadsheets) or convert it (iconv -t UTF-8)',
    );
  }
  const start = text.trimStart();
  if (start === '') return broken('the file is empty');
  if (start.startsWith('[')) {
    return broken('the file is a JSON array: write one object a line instead (jq -c ".[]" FILE)');
  }
  return start.startsWith('{') ? readJsonLines(text, columns) : readCsv(text, columns);
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

function broken(problem: string): TableFile {
  return { lines: [], problems: [{ line: null, problem }] };
}

function readJsonLines(text: string, columns: Columns): TableFile {
  const lines: TableLine[] = [];
  const problems: Problem[] = [];
  text.split('\n').forEach((source, index) => {
    if (source.trim() === '') return;
    const line = index + 1;
    const object = parseObject(source);
    if (object === null) {
      problems.push({ line, problem: `${quote(source.trim())} is not one JSON object` });
      return;
    }
    const cells = new Map<string, string>();
    for (const [key, value] of Object.entries(object)) {
      const name = columnName(key);
      if (!columns.known.includes(name)) {
        if (!columns.othersAllowed) problems.push({ line, problem: unknownColumn(key, columns) });
      } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
        const cell = String(value).trim();
        if (cell !== '') cells.set(name, cell);
      } else if (value !== null) {
        problems.push({
          line,
          problem: `${name} must be a text or a number (or true or false), not ${JSON.stringify(value)}`,
        });
      }
    }
    lines.push({ line, cells });
  });
  return { lines, problems };
}

function parseObject(source: string): object | null {
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: Info;
}

function readCsv(text: string, columns: Columns): TableFile {
  const problems: Problem[] = [];
  const [header, ...records] = parseCsv(text, chooseDelimiter(text, columns), problems);
  if (header === undefined) return { lines: [], problems };
  const names = header.record.map(columnName);
  const ofHeader = checkHeader(names, header, columns);
  // Under a header that cannot be read, every line would be reported because of it.
  if (ofHeader.length > 0) return { lines: [], problems: [...ofHeader, ...problems] };
  const lines: TableLine[] = [];
  for (const { record, info } of records) {
    if (record.every((cell) => cell.trim() === '')) continue;
    const line = info.lines - record.join('').split('\n').length + 1;
    if (record.length !== names.length) {
      const problem = `has ${record.length} cells where the header has ${names.length}: a separator or a quote is missing, or one too many`;
      problems.push({ line, problem });
      continue;
    }
    const cells = new Map<string, string>();
    names.forEach((name, index) => {
      const cell = record[index]?.trim() ?? '';
      if (cell !== '' && columns.known.includes(name)) cells.set(name, cell);
    });
    lines.push({ line, cells });
  }
  return { lines, problems: problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)) };
}

function parseCsv(text: string, delimiter: string, problems: Problem[]): CsvRecord[] {
  try {
    const records: unknown = parse(text, {
      delimiter,
      trim: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      on_skip: (error) => {
        if (error !== undefined) problems.push(describeCsvError(error));
        return undefined;
      },
    });
    return records as CsvRecord[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    problems.push(describeCsvError(error));
    return [];
  }
}

function describeCsvError(error: CsvError): Problem {
  const line = typeof error['lines'] === 'number' ? error['lines'] : null;
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
    return { line, problem: 'a quote was opened somewhere above and never closed' };
  }
  return { line, problem: `the quotes do not match (${error.message})` };
}

// The delimiter that finds the most known columns.
function chooseDelimiter(text: string, { known }: Columns): string {
  const header = text.trimStart().split('\n', 1)[0] ?? '';
  const found = (delimiter: string) =>
    header.split(delimiter).filter((name) => known.includes(columnName(name))).length;
  return DELIMITERS.toSorted((a, b) => found(b) - found(a))[0] ?? ',';
}

function columnName(text: string): string {
  return text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

function checkHeader(names: readonly string[], { info }: CsvRecord, columns: Columns): Problem[] {
  const line = info.lines;
  const problems: Problem[] = [];
  for (const [index, name] of names.entries()) {
    if (!columns.known.includes(name)) {
      if (!columns.othersAllowed) problems.push({ line, problem: unknownColumn(name, columns) });
    } else if (names.indexOf(name) !== index) {
      problems.push({ line, problem: `the column ${name} is there twice` });
    }
  }
  for (const name of columns.required.filter((required) => !names.includes(required))) {
    problems.push({ line, problem: `the column ${name} is missing` });
  }
  return problems;
}

function unknownColumn(name: string, { known }: Columns): string {
  return name === ''
    ? 'a column without a name'
    : `unknown column ${quote(name)}: the columns are ${known.join(', ')}`;
}
