// Lists as a table for people, or as JSON or CSV for programs.

import { type Command, Option } from 'commander';
import { print, printData, printJson } from './print.ts';
import { type Cell, renderColumns, renderCsv, type TableCell } from './render-table.ts';

export interface OutputFlags {
  readonly json?: true;
  readonly csv?: true;
}

/** Returns whether neither JSON nor CSV was asked for. */
export function isForPeople({ json, csv }: OutputFlags): boolean {
  return json !== true && csv !== true;
}

/** A list to print: for people the columns with a title, for programs the fields. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  /** Title of the column → its value. */
  readonly table: Readonly<Record<string, (row: Row) => TableCell>>;
  /** Names of the columns of CSV. */
  readonly fields: readonly string[];
  /** Returns the row for programs, by name. */
  readonly recordOf: (row: Row) => Readonly<Record<string, unknown>>;
  /** Returns the JSON document of these records. */
  readonly documentOf: (records: object[]) => object;
}

/** Adds --json and --csv, of which one may be given. */
export function addOutputFlags(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print the result as one JSON document').conflicts('csv'))
    .addOption(new Option('--csv', 'print the rows as CSV'));
}

/** Prints the list as asked for. An empty table is not printed. */
export function printListing<Row extends object>(listing: Listing<Row>, flags: OutputFlags): void {
  const { rows, table, fields, recordOf, documentOf } = listing;
  if (flags.json === true) printJson(documentOf(rows.map(recordOf)));
  else if (flags.csv === true) {
    const cells = rows.map(recordOf).map((record) => fields.map((name) => (record[name] ?? null) as Cell));
    printData(renderCsv(fields, cells));
  } else if (rows.length > 0) print(renderColumns(rows, table));
}
