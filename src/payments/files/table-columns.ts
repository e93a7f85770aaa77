// Finds the columns of a file, by their names or by those that the user gave (--map), and the rows that are meant
// (--only). Pure.

import { quote } from '../timestamps.ts';
import { findNearMiss } from './near-miss.ts';
import { type RawRow, spellCell } from './raw-table.ts';

/** The rows to be read have this value in this column of the file. */
export interface Condition {
  readonly column: string;
  readonly value: string;
}

export interface Columns {
  /** All columns that are read. */
  readonly known: readonly string[];
  /** Columns that must be there. */
  readonly required: readonly string[];
  /** The user's own name of a column, by the known one; null if the command has no --map. */
  readonly renamed: ReadonlyMap<string, string> | null;
  /** Columns of expectations, all named `expected_…`: no column of such a name may be left unread. */
  readonly guards: readonly string[];
  /** The value of a known column in every row, if the file has no such column. */
  readonly filled: ReadonlyMap<string, string>;
  /** Which rows are read; empty: all. */
  readonly only: readonly Condition[];
  /** Returns whether a column that is not read is one of ours, so that its owner need not hear of it. */
  readonly isOurs: (name: string) => boolean;
}

export interface ResolvedHeader {
  /** For each column of the file the known one; null if it is not read. */
  readonly names: readonly (string | null)[];
  /** The file's own names of those that are not read. */
  readonly ignored: readonly string[];
  readonly problems: readonly string[];
}

/** Returns the name as columns are compared: `Commission ID` is commission_id. */
export function columnName(text: string): string {
  return text
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
}

/** Returns the function from a name in the file to the known column; null for one that is not read. */
export function makeColumnFinder(columns: Columns): (name: string) => string | null {
  const own = new Map([...(columns.renamed ?? [])].map(([known, name]) => [columnName(name), known]));
  return (text) => {
    const name = columnName(text);
    return (
      own.get(name) ?? (columns.known.includes(name) && columns.renamed?.has(name) !== true ? name : null)
    );
  };
}

/** Resolves the header, with all of its problems. */
export function resolveHeader(header: readonly string[], columns: Columns): ResolvedHeader {
  const names = header.map(makeColumnFinder(columns));
  const ignored = header.filter((name, index) => names[index] === null && name.trim() !== '');
  const problems = [
    ...findRepeated(names),
    ...findUnmapped(header, names, columns),
    ...findFilledTwice(names, columns),
    ...describeUnread(ignored, names, columns),
    ...findMissing(names, ignored, columns),
  ];
  return { names, ignored, problems };
}

type Names = ResolvedHeader['names'];

function findRepeated(names: Names): string[] {
  return names.flatMap((name, index) =>
    name !== null && names.indexOf(name) !== index ? [`the column ${name} is there twice`] : [],
  );
}

function findUnmapped(header: readonly string[], names: Names, { renamed }: Columns): string[] {
  const there = header.filter((name) => name.trim() !== '').map(quote);
  return [...(renamed ?? [])]
    .filter(([known]) => !names.includes(known))
    .map(([known, own]) => {
      const taken = names[header.findIndex((name) => columnName(name) === columnName(own))] ?? null;
      return taken === null
        ? `there is no column ${quote(own)} for ${known}: the columns are ${there.join(', ')}`
        : `--map names the column ${quote(own)} for both ${known} and ${taken}: it can be only one`;
    });
}

function findFilledTwice(names: Names, { filled }: Columns): string[] {
  return [...filled.keys()]
    .filter((known) => names.includes(known))
    .map((known) => `the file has a column ${known} already: leave --${known} out`);
}

// A column that is meant and not read would be a guard that is silently not there.
function describeUnread(ignored: readonly string[], names: Names, columns: Columns): string[] {
  const { known, guards } = columns;
  const lacking = known.filter((name) => !names.includes(name));
  return ignored.flatMap((name) => {
    const guard = guards.find((one) => lacking.includes(one) && columnName(name).startsWith(one));
    const likely = findNearMiss(columnName(name), lacking) ?? guard;
    if (likely !== undefined) {
      return [
        `unknown column ${quote(name)}: if it is ${likely}, ${renameTo(likely, name, columns)}; if not, give it a name that is less like it`,
      ];
    }
    if (guards.length === 0 || !columnName(name).startsWith('expected')) return [];
    return [
      `unknown column ${quote(name)}: expectations of a row are in ${guards.join(', ')} (of which the first may say "unpaid"); if it is none of them, give it a name that does not begin with "expected"`,
    ];
  });
}

function findMissing(names: Names, ignored: readonly string[], columns: Columns): string[] {
  const { required, filled, renamed } = columns;
  return required
    .filter((name) => !names.includes(name) && !filled.has(name) && renamed?.has(name) !== true)
    .map((name) => {
      const others = ignored.length === 0 ? '' : ` if it is one of ${ignored.map(quote).join(', ')}`;
      const map = renamed === null ? `rename it${others}` : `give --map ${name}=NAME${others}`;
      const action = name === 'action' ? 'give --action pay where every row is one, or ' : '';
      return `the column ${name} is missing: ${action}${map}`;
    });
}

function renameTo(known: string, name: string, { renamed }: Columns): string {
  return renamed === null ? 'rename it' : `rename it or give --map ${known}=${quote(name)}`;
}

/** Returns the problems of the conditions with this header. */
export function findUnknownConditions(header: readonly string[], conditions: readonly Condition[]): string[] {
  const columns = new Set(conditions.map(({ column }) => column));
  return [...columns].flatMap((column) => {
    const found = header.filter((name) => columnName(name) === columnName(column)).length;
    if (found === 1) return [];
    if (found > 1) return `the column ${quote(column)} of --only is there twice: rename one`;
    const there = header.filter((name) => name.trim() !== '').map(quote);
    return `there is no column ${quote(column)} for --only: the columns are ${there.join(', ')}`;
  });
}

/**
 * Returns whether a row meets the conditions, whose columns the header has: of several values of one column any will
 * do, of several columns each has to hold. Case makes no difference.
 */
export function makeFilter(
  header: readonly string[],
  conditions: readonly Condition[],
): (row: RawRow) => boolean {
  const columns = header.map(columnName);
  const wanted = Map.groupBy(conditions, ({ column }) => columns.indexOf(columnName(column)));
  return ({ cells }) =>
    [...wanted].every(([index, of]) => {
      const text = spellCell(cells[index] ?? null).toLowerCase();
      return of.some(({ value }) => value.toLowerCase() === text);
    });
}
