// A figure: the rows of one statement, and the statement as text for psql. The status page shows the statement below
// its rows; commands, metrics and alerts read the same figures.

import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { memoize } from '../base/memoize.ts';
import { reportsSchema } from '../config/program/sibling-schema.ts';
import type { Database } from '../db/database.ts';

export interface Reader {
  readonly db: Database;
  readonly mirrorSchema: string;
}

export interface Figure<Row> {
  readonly rows: readonly Row[];
  /** The statement, with literal values and qualified relations. */
  readonly sql: string;
  /** When a memoized figure was read, by this machine's clock, as ISO 8601; null for other figures. */
  readonly asOf: string | null;
}

/** A page of a longer list, whose keys fall or rise from row to row. */
export interface FigurePage<Row, Key = number> extends Figure<Row> {
  /** The rows of the next page lie beyond this key; null on the last page. */
  readonly next: Key | null;
}

/** Throws: the database's errors. */
export async function readFigure<Row>({ db }: Reader, query: RawBuilder<Row>): Promise<Figure<Row>> {
  const { rows } = await query.execute(db);
  return { rows, sql: queryText(db, query), asOf: null };
}

/** Returns the figure of a statement that would find nothing, without running it. */
export async function spellFigure<Row>({ db }: Reader, query: RawBuilder<Row>): Promise<Figure<Row>> {
  return { rows: [], sql: queryText(db, query), asOf: null };
}

/**
 * Returns the figure, memoized: a million rows for each viewer would slow down the sync.
 *
 * Throws: the database's errors.
 */
export function readMemoized<Row>(reader: Reader, query: RawBuilder<Row>): Promise<Figure<Row>> {
  return memoizeIn(reader.db, queryText(reader.db, query), async () => {
    const asOf = new Date().toISOString();
    return { ...(await readFigure(reader, query)), asOf };
  });
}

/** Returns a function that reads the figure of the query with `read`. */
export function figure<Row, Asked extends readonly unknown[]>(
  query: (reader: Reader, ...asked: Asked) => RawBuilder<Row>,
  read = readFigure,
): (reader: Reader, ...asked: Asked) => Promise<Figure<Row>> {
  return (reader, ...asked) => read(reader, query(reader, ...asked));
}

/**
 * Returns a function that reads the columns of the row from a view of the reports. `rest` ends the statement. Frequent
 * callers of slow figures pass readMemoized.
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

/** For one database; then the oldest is dropped. Searches are not memoized, so there are few. */
const MOST_MEMOIZED = 50;

const memoized = new WeakMap<Database, Map<string, () => Promise<unknown>>>();

/** Returns the result of `read`, memoized by the key. */
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
 * Returns one page of at most `most` rows; `make` returns the query of at most that many rows beyond a key.
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

export function reportView({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(reportsSchema(mirrorSchema))}.${sql.raw(name)}`;
}

export function mirrorTable({ mirrorSchema }: Reader, name: string): RawBuilder<unknown> {
  return sql`${sql.id(mirrorSchema)}.${sql.raw(name)}`;
}

export function columnsOf(row: z.ZodObject): RawBuilder<unknown> {
  const names = Object.keys(row.shape).join(', ');
  return sql.raw(names.replace(LINE, '$1,\n             '));
}

const LINE = /(.{80,}?), /g;

/** Returns `where` with all conditions, or nothing if there are none. */
export function whereAll(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
}

/** Returns the sum as a whole number; null if a JavaScript number cannot hold it. */
export function exactSum(sum: string): RawBuilder<unknown> {
  const column = sql.ref(sum);
  return sql`case when abs(${column}) <= 9007199254740991 then ${column}::bigint end as ${column}`;
}

/** Returns the query as text, with literal values. */
export function queryText(db: Database, query: RawBuilder<unknown>): string {
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

// A query is indented like its code, and has an empty line in place of a part that was left out.
function dedent(text: string): string {
  const [first = '', ...rest] = text.split('\n').filter((line) => line.trim() !== '');
  const depth = Math.min(...rest.map((line) => line.search(/\S/)));
  return [first.trim(), ...rest.map((line) => line.slice(depth).trimEnd())].join('\n');
}
