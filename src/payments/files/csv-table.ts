// Reads CSV as a raw table. Pure.

import { CsvError, type Info, parse } from 'csv-parse/sync';
import { identifiersIn } from '../../contract/fields.ts';
import { withoutApostrophe } from './formula-guard.ts';
import { describePlaces, type FindColumn, findHeaders } from './header-place.ts';
import { brokenTable, type Problem, type RawTable } from './raw-table.ts';

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: Info;
}

const DELIMITERS = [',', ';', '\t'] as const;

/** Returns the table; of the delimiters the one that finds the most names of columns in its header. */
export function readCsv(source: string, find: FindColumn): RawTable {
  // Excel's own hint about the delimiter; a line of it is one that is empty.
  const text = source.replace(/^sep=[,;\t]\n/i, '\n');
  const header = findHeaderLine(text, find);
  const delimiter = chooseDelimiter(header, find);
  const form = { kind: 'csv', delimiter } as const;
  const problems: Problem[] = [];
  const records = parseCsv(text, delimiter, problems).filter(({ record }) =>
    record.some((cell) => cell !== ''),
  );
  problems.push(...records.flatMap(findSwallowedRows));
  const rows = records.map((record) => ({
    line: firstLineOf(record),
    cells: record.record.map(withoutApostrophe),
  }));
  const places = findHeaders([{ sheet: null, rows }], find);
  if (places.length > 1) return brokenTable(form, describePlaces(places));
  const at = places[0]?.index ?? 0;
  const names = records[at]?.record;
  return {
    form,
    header: names === undefined ? null : { line: rows[at]?.line ?? 1, names },
    rows: rows.slice(at + 1),
    // If quotes do not match, the ends of the rows are unknown: the parser skips more than their row.
    problems: problems.map(({ line, problem }) => ({
      line: null,
      problem: line === null ? problem : `line ${line}: ${problem}`,
    })),
    notes: [],
  };
}

function firstLineOf({ record, info }: CsvRecord): number {
  return info.lines - record.join('').split('\n').length + 1;
}

/**
 * A quote that opens by mistake and one that closes by mistake some lines below make one valid cell of the rows between
 * them. It differs from a cell that was written on several lines in naming commissions.
 */
function findSwallowedRows(record: CsvRecord): readonly Problem[] {
  const swallows = (cell: string) => cell.includes('\n') && identifiersIn(cell).length > 0;
  if (!record.record.some(swallows)) return [];
  const line = firstLineOf(record);
  return [
    {
      line,
      problem:
        `a cell goes on to line ${record.info.lines} and names a commission there: remove the quotes that make one ` +
        'cell of several rows, or write the cell on one line',
    },
  ];
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

/** No header is further down, even if lines between are blank. */
const MOST_LINES = 200;

// Before the delimiter is known: a delimiter within a cell of a title or a header splits it, which does no harm here.
function findHeaderLine(text: string, find: FindColumn): string {
  const lines = text.split('\n', MOST_LINES).filter((line) => line.trim() !== '');
  const rows = lines.map((line, index) => ({ line: index, cells: line.split(/[,;\t]/) }));
  const [place] = findHeaders([{ sheet: null, rows }], find);
  return lines[place?.index ?? 0] ?? '';
}

function chooseDelimiter(header: string, find: FindColumn): string {
  const names = (delimiter: string) => header.split(delimiter);
  const found = (delimiter: string) => names(delimiter).filter((name) => find(name) !== null).length;
  // If no name is known, the message about it should name the columns one by one.
  return DELIMITERS.toSorted((a, b) => found(b) - found(a) || names(b).length - names(a).length)[0] ?? ',';
}
