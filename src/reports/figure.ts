// A figure: the rows of one statement, and that statement as text that any user can run in psql. The status page shows
// the statement below what it gave; commands, metrics and alerts read the same figures.

import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import type { Database } from '../db/database.ts';
import { reportsSchema } from '../db/sibling-schema.ts';
import { memoize } from '../memoize.ts';

/** What a figure is read with. */
export interface Reader {
  readonly db: Database;
  readonly mirrorSchema: string;
}

export interface Figure<Row> {
  readonly rows: readonly Row[];
  /** The statement, with its values written out, and its relations with their schemas. */
  readonly sql: string;
  /** When a memoized figure was read, by this machine's clock, as ISO 8601; null of another. */
  readonly asOf: string | null;
}

/** Rows of a list that goes on: keys fall, or rise, from row to row. */
export interface FigurePage<Row, Key = number> extends Figure<Row> {
  /** Where the next page begins: its rows lie beyond this key. Null: this is the last page. */
  readonly next: Key | null;
}

/** Returns the figure as it is now. Throws: the database's errors. */
export async function readFigure<Row>({ db }: Reader, query: RawBuilder<Row>): Promise<Figure<Row>> {
  const { rows } = await query.execute(db);
  return { rows, sql: sayQuery(db, query), asOf: null };
}

/**
 * Returns the figure, memoized: to read a million rows anew for each viewer would slow down the sync.
 *
 * Throws: the database's errors.
 */
export function readMemoized<Row>(reader: Reader, query: RawBuilder<Row>): Promise<Figure<Row>> {
  return memoizeIn(reader.db, sayQuery(reader.db, query), async () => {
    const asOf = new Date().toISOString();
    return { ...(await readFigure(reader, query)), asOf };
  });
}

/** Returns the reader of the figure that the query gives: as it is now, or by readMemoized. */
export function figure<Row, Asked extends readonly unknown[]>(
  query: (reader: Reader, ...asked: Asked) => RawBuilder<Row>,
  read = readFigure,
): (reader: Reader, ...asked: Asked) => Promise<Figure<Row>> {
  return (reader, ...asked) => read(reader, query(reader, ...asked));
}

/**
 * Returns the reader of a figure that is a view of the reports: the columns that the row has. `rest` ends the
 * statement. A caller that asks often for what takes long passes readMemoized.
 */
export function figureOf<Row extends z.ZodObject>(
  view: string,
  row: Row,
  rest = '',
): (reader: Reader, read?: typeof readFigure) => Promise<Figure<z.infer<Row>>> {
  return (reader, read = readFigure) =>
    read(
      reader,
      sql<z.infer<Row>>`
      select ${columnsOf(row)}
      from ${reportView(reader, view)}
      ${sql.raw(rest)}`,
    );
}

/** Of one database: searches are not memoized, so there are few. The oldest goes. */
const MOST_MEMOIZED = 50;

const memoized = new WeakMap<Database, Map<string, () => Promise<unknown>>>();

/** Returns what `read` returns, memoized. The key names what is read, once in a database. */
export function memoizeIn<Result>(db: Database, key: string, read: () => Promise<Result>): Promise<Result> {
  const ofDatabase = memoized.get(db) ?? new Map<string, () => Promise<unknown>>();
  memoized.set(db, ofDatabase);
  const known = ofDatabase.get(key) ?? memoize(read);
  ofDatabase.set(key, known);
  const [oldest] = ofDatabase.keys();
  if (ofDatabase.size > MOST_MEMOIZED && oldest !== undefined) ofDatabase.delete(oldest);
  return known() as Promise<Result>;
}

/**
 * Returns one page of `most` rows; `make` returns the query of the rows that lie beyond a key, at most as many as it is
 * asked for.
 *
 * Throws: the database's errors.
 */
export async function readPage<Row, Key extends number | string>(
  reader: Reader,
  page: { readonly beyond: Key | null; readonly most: number; readonly keyOf: (row: Row) => Key },
  make: (beyond: Key | null, most: number) => RawBuilder<Row>,
): Promise<FigurePage<Row, Key>> {
  const figure = await readFigure(reader, make(page.beyond, page.most));
  const last = figure.rows.at(-1);
  if (last === undefined || figure.rows.length < page.most) return { ...figure, next: null };
  const end = page.keyOf(last);
  const { rows } = await make(end, 1).execute(reader.db);
  return { ...figure, next: rows.length === 0 ? null : end };
}

/** Returns the name of a view of the reports, for a query. */
export function reportView({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(reportsSchema(mirrorSchema))}.${sql.raw(name)}`;
}

/** Returns the name of a table or view of the mirror itself, for a query. */
export function mirrorTable({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(mirrorSchema)}.${sql.raw(name)}`;
}

/** Returns the columns of the row, which are those of its relation, for a query. */
export function columnsOf(row: z.ZodObject): RawBuilder<unknown> {
  const names = Object.keys(row.shape).join(', ');
  return sql.raw(names.replace(LINE, '$1,\n             '));
}

const LINE = /(.{80,}?), /g;

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
