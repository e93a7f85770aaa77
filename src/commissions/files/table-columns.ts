// Which column of a file is which: by its name, or by the one that the user gave for it. Pure.

import { quote } from '../timestamps.ts';
import { findNearMiss } from './near-miss.ts';

export interface Columns {
  /** All columns that are read. */
  readonly known: readonly string[];
  /** Those without which nothing can be read. */
  readonly required: readonly string[];
  /** The user's own name of a column, by the known one; null where the command has no --map. */
  readonly renamed: ReadonlyMap<string, string> | null;
  /** Those that keep a row from doing harm, all named `expected_…`: no column of such a name is left unread. */
  readonly guards: readonly string[];
  /** What a known column holds in every row, where the file has no such column. */
  readonly filled: ReadonlyMap<string, string>;
}

export interface ResolvedHeader {
  /** For each column of the file the known one; null where it is not read. */
  readonly names: readonly (string | null)[];
  /** The file's own names of those that are not read. */
  readonly ignored: readonly string[];
  readonly problems: readonly string[];
}

/** Returns the name as columns are compared: `Commission ID` is commission_id. */
function columnName(text: string): string {
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

/** Returns what each column of the file is, with everything that is wrong with its header. */
export function resolveHeader(header: readonly string[], columns: Columns): ResolvedHeader {
  const find = makeColumnFinder(columns);
  const names = header.map(find);
  const ignored = header.filter((name, index) => names[index] === null && name.trim() !== '');
  const problems = names.flatMap((name, index) =>
    name !== null && names.indexOf(name) !== index ? [`the column ${name} is there twice`] : [],
  );
  const lacking = columns.known.filter((known) => !names.includes(known));
  for (const [known, own] of columns.renamed ?? []) {
    if (names.includes(known)) continue;
    const taken = names[header.findIndex((name) => columnName(name) === columnName(own))] ?? null;
    if (taken !== null) {
      problems.push(
        `--map names the column ${quote(own)} for both ${known} and ${taken}: it can be only one`,
      );
      continue;
    }
    const there = header.filter((name) => name.trim() !== '').map(quote);
    problems.push(`there is no column ${quote(own)} for ${known}: the columns are ${there.join(', ')}`);
  }
  for (const known of columns.filled.keys()) {
    if (names.includes(known)) problems.push(`the file has a column ${known} already: leave --${known} out`);
  }
  // Each column of the file is suggested once.
  const suggested = new Map<string, string>();
  // A column that is meant and not read would be a guard that is silently not there.
  for (const name of ignored) {
    const meant =
      findNearMiss(columnName(name), lacking) ??
      columns.guards.find((guard) => lacking.includes(guard) && columnName(name).startsWith(guard)) ??
      null;
    if (meant !== null) {
      suggested.set(name, meant);
      problems.push(
        `unknown column ${quote(name)}: if it is ${meant}, ${renameTo(meant, name, columns)}; if not, give it a name that is less like it`,
      );
    } else if (columns.guards.length > 0 && columnName(name).startsWith('expected')) {
      problems.push(
        `unknown column ${quote(name)}: what a row expects is in ${columns.guards.join(', ')} (of which the first may say "unpaid"); if it is none of them, give it a name that does not begin with "expected"`,
      );
    }
  }
  for (const name of columns.required) {
    if (names.includes(name) || columns.filled.has(name) || columns.renamed?.has(name)) continue;
    const isSuggested = [...suggested.values()].includes(name);
    const [first] = isSuggested ? [] : ignored.filter((one) => !suggested.has(one));
    if (first !== undefined) suggested.set(first, name);
    const fix = fixFor(name, first, columns);
    problems.push(`the column ${name} is missing${fix === '' ? '' : `: ${fix}`}`);
  }
  return { names, ignored, problems };
}

function renameTo(known: string, name: string, { renamed }: Columns): string {
  return renamed === null ? 'rename it' : `rename it or give --map ${known}=${quote(name)}`;
}

function fixFor(name: string, column: string | undefined, { renamed }: Columns): string {
  const isIt = renamed === null ? `rename ${quote(column ?? '')}` : `--map ${name}=${quote(column ?? '')}`;
  const map = column === undefined ? '' : `${isIt} if that is it`;
  const fixes = [name === 'action' ? 'give --action pay where every row is one' : '', map];
  return fixes.filter((fix) => fix !== '').join(', or ');
}
