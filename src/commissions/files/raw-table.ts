// A table as it was in its file, before anybody asks what its columns mean: what CSV, NDJSON and Excel have in common.

/** Something wrong with the file; `line` is null where it is the file as a whole. */
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
  | { readonly kind: 'csv'; readonly delimiter: string; readonly hasMark: boolean }
  | { readonly kind: 'ndjson' }
  | { readonly kind: 'xlsx' };

export interface RawTable {
  readonly form: TableForm;
  /** Null where there is none; then `problems` says why. */
  readonly header: { readonly line: number; readonly names: readonly string[] } | null;
  readonly rows: readonly RawRow[];
  readonly problems: readonly Problem[];
  /** Whether rows may be missing, or be parts of others, since nobody can tell where each of them ends. */
  readonly areRowsUnsure: boolean;
  /** The visible sheets of a workbook that are not read, and not empty. */
  readonly unreadSheets: readonly string[];
}

/** Returns a table of nothing but the problem. */
export function brokenTable(form: TableForm, problem: string): RawTable {
  const problems = [{ line: null, problem }];
  return { form, header: null, rows: [], problems, areRowsUnsure: false, unreadSheets: [] };
}
