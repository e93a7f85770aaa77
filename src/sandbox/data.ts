// Access to the sandbox's tables: prepared statements, transactions, bulk insert, update and delete by id.

import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Source } from './invent.ts';
import type { Rows } from './rows.ts';

/** As pg's own pool, and as that of a program. */
export interface Pool extends Pick<pg.PoolClient, 'query'> {
  connect(): Promise<pg.PoolClient>;
}

/** A pool, or one connection of it inside a transaction. */
export type Queryable = Pool | pg.PoolClient;

/** One transaction, with its randomness and its time. */
export interface Moment extends Source {
  readonly client: pg.PoolClient;
  readonly s: string;
  readonly now: Date;
}

export function quoteSchema(schema: string): string {
  return pg.escapeIdentifier(schema);
}

export async function inTransaction<T>(pool: Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Columns that the rows do not name take their defaults. */
export async function insertRows<T extends keyof Rows>(
  db: Queryable,
  s: string,
  table: T,
  rows: readonly Rows[T][],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first).map(pg.escapeIdentifier).join(', ');
  await db.query(
    `insert into ${s}.${table} (${columns})
     select ${columns} from json_populate_recordset(null::${s}.${table}, $1::json)`,
    [JSON.stringify(rows)],
  );
}

/** Returns whether there was a row with that id. */
export async function updateRow<T extends keyof Rows>(
  db: Queryable,
  s: string,
  table: T,
  id: string,
  fields: Partial<Rows[T]>,
): Promise<boolean> {
  const columns = Object.keys(fields).map(pg.escapeIdentifier);
  const assignments = columns.map((column) => `${column} = f.${column}`).join(', ');
  const result = await db.query(
    `update ${s}.${table} t set ${assignments}
       from json_populate_record(null::${s}.${table}, $2::json) f where t.id = $1`,
    [id, JSON.stringify(fields)],
  );
  return result.rowCount === 1;
}

/** Deletes also the rows that refer to it. Returns whether there was a row with that id. */
export async function deleteRow(db: Queryable, s: string, table: keyof Rows, id: string): Promise<boolean> {
  const result = await db.query(`delete from ${s}.${table} where id = $1`, [id]);
  return result.rowCount === 1;
}

export type ReadRows = <T extends pg.QueryResultRow>(text: string, values: unknown[]) => Promise<T[]>;

/**
 * With `keepsPlans`, a statement is named by its text, so that Postgres reuses its plan: planning the long statements
 * of answers takes as long as running them on a few rows. A plan holds 0.3 MB of each connection, so that a hundred
 * programs do without: with 300 plans, a connection held 106 MB, and answers took no less of Postgres' time.
 */
export function makeReadRows(pool: Pool, keepsPlans: boolean): ReadRows {
  return async <T extends pg.QueryResultRow>(text: string, values: unknown[]) => {
    const name = keepsPlans ? { name: createHash('sha1').update(text).digest('hex') } : {};
    return (await pool.query<T>({ ...name, text, values })).rows;
  };
}
