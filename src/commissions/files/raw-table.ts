// A table as it was in its file, before anybody asks what its columns mean: what CSV, NDJSON and Excel have in common.

import { quote } from '../timestamps.ts';

/** Something wrong with the file; `line` is null where it is the file as a whole, of which then no row is used. */
export interface Problem {
  readonly line: number | null;
  readonly problem: string;
}

/** A date is one without a zone: what the cell shows, given as if it were UTC. */
export type RawCell = string | number | boolean | Date | null;

export interface RawRow {
  /** Its number in the file, from 1; of a workbook the number that Excel shows. */
  readonly line: number;
  /** One for each column of the header, unless the row is broken. */
  readonly cells: readonly RawCell[];
  /** Why it could not be taken apart; then its text is its only cell. Left out where it could. */
  readonly broken?: string;
}

/** How the file is written: what somebody who wants it returned expects to see again. */
export type TableForm =
  | { readonly kind: 'csv'; readonly delimiter: string }
  | { readonly kind: 'ndjson' }
  | { readonly kind: 'xlsx' };

export interface RawTable {
  readonly form: TableForm;
  /** Null where there is none; then `problems` says why. */
  readonly header: { readonly line: number; readonly names: readonly string[] } | null;
  readonly rows: readonly RawRow[];
  readonly problems: readonly Problem[];
  /** What is to be said in the run of how the file is read. */
  readonly notes: readonly string[];
}

/** Returns a table of nothing but the problem. */
export function brokenTable(form: TableForm, problem: string): RawTable {
  const problems = [{ line: null, problem }];
  return { form, header: null, rows: [], problems, notes: [] };
}

/** Returns what is to be said of the things of these names; nothing where there are none. */
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
