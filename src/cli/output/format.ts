// The choice between a table for people, and JSON or CSV for programs.

import { type Command, Option } from 'commander';
import { print, printData, printJson } from './print.ts';
import { type Cell, renderCsv, renderTable, type TableCell } from './render-table.ts';

export interface OutputFlags {
  readonly json?: true;
  readonly csv?: true;
}

/** Returns whether people read the answer on stdout, and no program. */
export function isForPeople({ json, csv }: OutputFlags): boolean {
  return json !== true && csv !== true;
}

/** A list to print: for people the columns with a title, for programs all of them. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  /** Title of the column → its value. */
  readonly table: Readonly<Record<string, (row: Row) => TableCell>>;
  /** Name of the column → its value. */
  readonly csv: Readonly<Record<string, (row: Row) => Cell>>;
  /** Returns the JSON document. */
  readonly document: () => object;
}

/** Adds --json and --csv, of which one may be given. */
export function addOutputFlags(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print the result as one JSON document').conflicts('csv'))
    .addOption(new Option('--csv', 'print the rows as CSV'));
}

/** Prints the list as asked for. An empty table is not printed. */
export function printListing<Row extends object>(listing: Listing<Row>, flags: OutputFlags): void {
  const { rows, table, csv, document } = listing;
  if (flags.json === true) printJson(document());
  else if (flags.csv === true) printData(renderCsv(Object.keys(csv), cellsOf(rows, csv)));
  else if (rows.length > 0) print(renderTable(Object.keys(table), cellsOf(rows, table)));
}

function cellsOf<Row, C>(rows: readonly Row[], columns: Readonly<Record<string, (row: Row) => C>>): C[][] {
  return rows.map((row) => Object.values(columns).map((read) => read(row)));
}
