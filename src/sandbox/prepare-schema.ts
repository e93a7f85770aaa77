// Prepares the schema: creates and seeds the program, or finds it, or refuses another one.

import type pg from 'pg';
import { ConfigError } from '../base/errors.ts';
import { countAllSql, createTriggersSql } from './counts.ts';
import { inTransaction, type Pool, quoteSchema } from './data.ts';
import { createIndexesSql, createTablesSql, dropTablesSql, formatOf, TABLES } from './schema.ts';
import { type SeedOptions, type SeedSize, seedProgram } from './seed.ts';

/**
 * Returns whether the program was seeded now; false if it was there already.
 *
 * Throws: ConfigError if the schema holds another program (unless `reset`), or tables that are not the sandbox's
 * (always: those are never dropped); the signal's reason if it aborts.
 * Idempotent: yes; two at once on one schema wait for each other, and a killed one leaves nothing behind.
 */
export async function prepareSchema(
  { pool, ...seeding }: { pool: Pool } & SeedOptions,
  schema: string,
  size: SeedSize,
  reset: boolean,
): Promise<boolean> {
  const s = quoteSchema(schema);
  const isSeeded = await inTransaction(pool, async (client) => {
    // Thousands of rows are invented between two statements, which takes a slow machine more than the usual timeout.
    await client.query(`set local idle_in_transaction_session_timeout = '5min'`);
    await client.query(`select pg_advisory_xact_lock(hashtext('affiliate-mirror sandbox'), hashtext($1))`, [
      schema,
    ]);
    const held = await readHeld(client, schema, s);
    if (held !== null && !reset) {
      refuseAnother(schema, held, size);
      return false;
    }
    await client.query(`create schema if not exists ${s}`);
    if (held !== null) await client.query(dropTablesSql(s));
    await client.query(createTablesSql(s, size.spelling));
    await client.query(
      `insert into ${s}.sandbox_program (format, spelling, seed, affiliates, referrals) values ($1, $2, $3, $4, $5)`,
      [formatOf(size.spelling), size.spelling, size.seed, size.affiliates, size.referrals],
    );
    await seedProgram(client, s, size, seeding);
    await client.query(createIndexesSql(s));
    await client.query(countAllSql(s));
    await client.query(createTriggersSql(s));
    return true;
  });
  // Marks the table's pages as visible to all: otherwise a far page of a list reads every row before it.
  if (isSeeded) await pool.query(`vacuum analyze ${TABLES.map((table) => `${s}.${table}`).join(', ')}`);
  return isSeeded;
}

interface Held extends SeedSize {
  readonly format: string;
}

async function readHeld(client: pg.PoolClient, schema: string, s: string): Promise<Held | null> {
  const found = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = $1 and tablename = any($2)',
    [schema, TABLES],
  );
  const names = found.rows.map((row) => row.name);
  if (names.length === 0) return null;
  if (!names.includes('sandbox_program')) {
    throw new ConfigError([
      `schema ${schema} holds tables that are not the sandbox's (${names.join(', ')}): give the sandbox another schema`,
    ]);
  }
  const held = await client.query<Held>(
    `select format::text, seed::float8 as seed, affiliates, referrals,
            coalesce(to_jsonb(p) ->> 'spelling', 'neutral') as spelling
       from ${s}.sandbox_program p`,
  );
  return held.rows[0] ?? null;
}

function refuseAnother(schema: string, held: Held, wanted: SeedSize): void {
  const describe = ({ seed, affiliates, referrals, spelling }: SeedSize) =>
    `seed ${seed}, ${affiliates} affiliates and ${referrals} referrals in the spelling ${spelling}`;
  const isOfVersion = held.format === formatOf(held.spelling);
  if (isOfVersion && describe(held) === describe(wanted)) return;
  const made = isOfVersion ? '' : ' made by another version of the sandbox';
  throw new ConfigError([
    `schema ${schema} already holds a program${made} with ${describe(held)}, not ${describe(wanted)}: ask for the same again to go on with it, or give --reset to drop it and start anew`,
  ]);
}
