// A table as it was in its file, before its columns are resolved: the common form of CSV and Excel.

import { formatCount } from '../../contract/format.ts';
import { quote } from '../timestamps.ts';

/** A problem of the file; `line` is null if it concerns the file as a whole, of which then no row is used. */
export interface Problem {
  readonly line: number | null;
  readonly problem: string;
}

/** A date has no zone: it is the cell's text as if it were UTC. */
export type RawCell = string | number | boolean | Date | null;

export interface RawRow {
  /** Its number in the file, from 1; of a workbook the number that Excel shows. */
  readonly line: number;
  readonly cells: readonly RawCell[];
}

/** The form of the file, in which its owner expects it returned. */
export type TableForm = { readonly kind: 'csv'; readonly delimiter: string } | { readonly kind: 'xlsx' };

export interface RawTable {
  readonly form: TableForm;
  /** Null if there is none; then `problems` says why. */
  readonly header: { readonly line: number; readonly names: readonly string[] } | null;
  readonly rows: readonly RawRow[];
  readonly problems: readonly Problem[];
  /** Remarks on how the file is read. */
  readonly notes: readonly string[];
}

/** Returns an empty table with the problem. */
export function brokenTable(form: TableForm, problem: string): RawTable {
  const problems = [{ line: null, problem }];
  return { form, header: null, rows: [], problems, notes: [] };
}

/** Problems of one kind that are printed in words. */
const MOST_OF_A_KIND = 5;
/** The parts in which problems of one kind differ. */
const DETAILS = /"(?:[^"\\]|\\.)*"|[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d.,:TZ-]*/g;

/**
 * Returns the problems in words, each after its lines: equal ones as one. Of more than five that differ in a value
 * alone, only the lines of the further ones, so that they bury no other.
 */
export function describeProblems(problems: readonly Problem[]): string[] {
  const kinds = Map.groupBy(problems, ({ line, problem }) =>
    line === null ? problem : problem.replace(DETAILS, '#'),
  );
  return [...kinds.values()].flatMap((ofKind) => {
    const equal = [...Map.groupBy(ofKind, ({ problem }) => problem)];
    const further = equal.slice(MOST_OF_A_KIND).flatMap(([, of]) => of);
    return [
      ...equal.slice(0, MOST_OF_A_KIND).map(([problem, of]) => `${nameLines(of)}${problem}`),
      ...(further.length === 0 ? [] : [`${nameLines(further)}the same with other values`]),
    ];
  });
}

const MOST_RANGES = 100;

/** Returns such as `lines 2 to 601, 603: `; nothing if they concern the file as a whole. */
function nameLines(problems: readonly Problem[]): string {
  const lines = [...new Set(problems.flatMap(({ line }) => line ?? []))].toSorted((a, b) => a - b);
  if (lines.length === 0) return '';
  const ranges: { from: number; to: number }[] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last?.to === line - 1) last.to = line;
    else ranges.push({ from: line, to: line });
  }
  const named = ranges.slice(0, MOST_RANGES).map(({ from, to }) => {
    if (from === to) return String(from);
    return to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`;
  });
  const left = ranges.slice(MOST_RANGES).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const more = left === 0 ? '' : ` and ${formatCount(left)} more`;
  return `line${lines.length === 1 ? '' : 's'} ${named.join(', ')}${more}: `;
}

/** Returns a note that names them; empty if there are none. */
export function describeNames(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what}${names.length === 1 ? '' : 's'} ${names.map(quote).join(', ')}`];
}

/** Returns the text of the cell, trimmed; a date is ISO 8601 without a zone. */
export function spellCell(value: RawCell): string {
  if (!(value instanceof Date)) return String(value ?? '').trim();
  const [day = '', time = ''] = value
    .toISOString()
    .replace(/(\.000)?Z$/, '')
    .split('T');
  return time === '00:00:00' ? day : `${day}T${time}`;
}

/** Returns the name of the column, as Excel shows it: 0 is A, 26 is AA. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : `${columnLetters(Math.floor(column / 26) - 1)}${last}`;
}
