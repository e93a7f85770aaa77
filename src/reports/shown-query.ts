// Runs a query of the pages, and says it as text that anybody can run in psql: what is shown below a figure is what
// gave the figure.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { reportsSchema } from '../db/sibling-schema.ts';

/** What a query is read with. */
export interface Reader {
  readonly db: Database;
  readonly mirrorSchema: string;
}

export interface Shown<Row> {
  readonly rows: readonly Row[];
  /** The query, with its values written out, and its relations with their schemas. */
  readonly sql: string;
}

/** Rows of a list that goes on: keys fall, or rise, from row to row. */
export interface ShownPage<Row, Key = number> extends Shown<Row> {
  /** Where the next page begins: its rows lie beyond this key. Null: this is the last page. */
  readonly next: Key | null;
}

/** Returns the rows, and the query that gave them. Throws: the database's errors. */
export async function runShown<Row>({ db }: Reader, query: RawBuilder<Row>): Promise<Shown<Row>> {
  const { rows } = await query.execute(db);
  return { rows, sql: sayQuery(db, query) };
}

/**
 * Returns one page of `most` rows; `make` returns the query of the rows that lie beyond a key, at most as many as it is
 * asked for.
 *
 * Throws: the database's errors.
 */
export async function runShownPage<Row, Key extends number | string>(
  reader: Reader,
  page: { readonly beyond: Key | null; readonly most: number; readonly keyOf: (row: Row) => Key },
  make: (beyond: Key | null, most: number) => RawBuilder<Row>,
): Promise<ShownPage<Row, Key>> {
  const shown = await runShown(reader, make(page.beyond, page.most));
  const last = shown.rows.at(-1);
  if (last === undefined || shown.rows.length < page.most) return { ...shown, next: null };
  const end = page.keyOf(last);
  const { rows } = await make(end, 1).execute(reader.db);
  return { ...shown, next: rows.length === 0 ? null : end };
}

/** Returns the name of a view of the reports, for a query. */
export function reportView({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(reportsSchema(mirrorSchema))}.${sql.raw(name)}`;
}

/** Returns the name of a table or view of the mirror itself, for a query. */
export function mirrorTable({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(mirrorSchema)}.${sql.raw(name)}`;
}

/** Returns `where`, and all of the conditions; nothing where there is none. */
export function whereAll(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

/** Returns the sum as a whole number; null where a number could not hold it. */
export function exactSum(sum: string): RawBuilder<unknown> {
  const column = sql.ref(sum);
  return sql`case when abs(${column}) <= 9007199254740991 then ${column}::bigint end as ${column}`;
}

/** Returns the query as text, its values written out. */
export function sayQuery(db: Database, query: RawBuilder<unknown>): string {
  const compiled = query.compile(db);
  const text = dedent(compiled.sql).replace(/\$(\d+)/g, (_, place: string) =>
    spellLiteral(compiled.parameters[Number(place) - 1]),
  );
  return `${text};`;
}

function spellLiteral(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `array[${value.map(spellLiteral).join(', ')}]`;
  const text = String(value).replaceAll("'", "''");
  return text.includes('\\') ? `E'${text.replaceAll('\\', '\\\\')}'` : `'${text}'`;
}

// A query is indented as the code around it, and has an empty line where a part of it was left out.
function dedent(text: string): string {
  const [first = '', ...rest] = text.split('\n').filter((line) => line.trim() !== '');
  const depth = Math.min(...rest.map((line) => line.search(/\S/)));
  return [first.trim(), ...rest.map((line) => line.slice(depth).trimEnd())].join('\n');
}
