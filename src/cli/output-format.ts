// The choice between a table for people, and JSON or CSV for programs.

import { type Command, Option } from 'commander';
import { print, printJson } from './print.ts';
import { renderCsv } from './render-csv.ts';
import { type Cell, renderTable } from './render-table.ts';

export interface OutputFlags {
  readonly json?: true;
  readonly csv?: true;
}

/** A list to print: for people the columns with a title, for programs all of them. */
export interface Listing<Row> {
  /** Name of the list in the JSON document. */
  readonly name: string;
  readonly rows: readonly Row[];
  /** Title of the column → its value. */
  readonly table: Readonly<Record<string, (row: Row) => Cell>>;
  /** What a person should know beyond the table, a line below it; null where nothing. */
  readonly remark?: (row: Row) => string | null;
  /** Name of the column → its value. */
  readonly csv: Readonly<Record<string, (row: Row) => Cell>>;
  /** What else the JSON document holds. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Adds --json and --csv, of which one may be given. */
export function addOutputFlags(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print the result as one JSON document').conflicts('csv'))
    .addOption(new Option('--csv', 'print the rows as CSV'));
}

/** Prints the list as asked for. An empty table is not printed. */
export function printListing<Row extends object>(listing: Listing<Row>, flags: OutputFlags): void {
  const { name, rows, table, csv, more, remark = () => null } = listing;
  if (flags.json === true) printJson({ ...more, [name]: rows });
  else if (flags.csv === true) print(renderCsv(Object.keys(csv), cellsOf(rows, csv)));
  else if (rows.length > 0) {
    print(renderTable(Object.keys(table), cellsOf(rows, table)));
    for (const line of rows.map(remark)) if (line !== null) print(line);
  }
}

function cellsOf<Row>(rows: readonly Row[], columns: Readonly<Record<string, (row: Row) => Cell>>): Cell[][] {
  return rows.map((row) => Object.values(columns).map((read) => read(row)));
}
