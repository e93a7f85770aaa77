// How the sandbox's tables are reached: statements with a plan, transactions, bulk insert, update and delete by id.

import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Rows } from './rows.ts';

/** A pool, or one connection of it inside a transaction. */
export type Queryable = pg.Pool | pg.PoolClient;

/** Returns the schema's name as it must be written in SQL. */
export function quoteSchema(schema: string): string {
  return pg.escapeIdentifier(schema);
}

/** Returns what `work` returns, run in one transaction; a throw rolls all of it back. */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
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

/** Inserts the rows in one statement; columns that the rows do not name take their defaults. */
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

/** Sets the given columns of the row with that id; returns whether there was one. */
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

/** Deletes the row with that id and everything that refers to it; returns whether there was one. */
export async function deleteRow(db: Queryable, s: string, table: keyof Rows, id: string): Promise<boolean> {
  const result = await db.query(`delete from ${s}.${table} where id = $1`, [id]);
  return result.rowCount === 1;
}

/**
 * Returns the statement under a name that its text gives it. Those that answer requests are long, and Postgres takes as
 * long to plan one as to run it: under a name, a connection plans it a few times and then keeps the plan.
 */
export function nameStatement(text: string, values: unknown[]): pg.QueryConfig {
  return { name: createHash('sha1').update(text).digest('hex'), text, values };
}
