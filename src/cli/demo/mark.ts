// Separates made-up records from real ones.
//
// Decision: the demo marks its mirror by the comment of the schema, which an analyst sees too (\dn+). The demo does not
// write into a mirror with runs and without the mark; a mirror with the mark takes records of programs on this machine
// only (the demo's own, another sandbox). Rejected: a schema of the demo's own, which every other command would have to
// know; a note of the program's address, which may change.

import { escapeIdentifier } from 'pg';
import { ConfigError } from '../../base/errors.ts';
import { isLoopback } from '../../config/program/program-access.ts';
import type { Pool } from '../../db/connect/shared-pool.ts';

const MARK = 'The mirror of affiliate-mirror demo: a made-up affiliate program. Nothing in it is real.';

/** Marks the schema, which must exist, as the demo's. */
export async function markAsDemo(pool: Pool, schema: string): Promise<void> {
  await pool.query(`comment on schema ${escapeIdentifier(schema)} is '${MARK}'`);
}

/**
 * Resolves if the demo may write into the schema: it is missing, was never synced into, or is the demo's.
 *
 * Throws: ConfigError.
 */
export async function refuseForeignMirror(pool: Pool, schema: string): Promise<void> {
  if ((await isDemo(pool, schema)) || !(await hasRuns(pool, schema))) return;
  throw new ConfigError([
    `the schema ${schema} mirrors another affiliate program already, and the demo's made-up records do not belong there: set MIRROR_SCHEMA to a name of the demo's own, such as demo_mirror`,
  ]);
}

/**
 * Resolves if records of the API at that address may be written into the schema.
 *
 * Throws: ConfigError if the schema is the demo's, and the API is not on this machine.
 */
export async function refuseDemoMirror(pool: Pool, schema: string, programUrl: string): Promise<void> {
  if (isLoopback(new URL(programUrl).hostname) || !(await isDemo(pool, schema))) return;
  throw new ConfigError([
    `the schema ${schema} holds the made-up records of "affiliate-mirror demo": set MIRROR_SCHEMA to another name, or drop it first (drop schema ${escapeIdentifier(schema)} cascade)`,
  ]);
}

async function isDemo(pool: Pool, schema: string): Promise<boolean> {
  const { rows } = await pool.query<{ comment: string | null }>(
    `select obj_description(oid, 'pg_namespace') as comment from pg_namespace where nspname = $1`,
    [schema],
  );
  return rows[0]?.comment === MARK;
}

async function hasRuns(pool: Pool, schema: string): Promise<boolean> {
  const table = `${escapeIdentifier(schema)}.sync_runs`;
  const found = await pool.query<{ found: boolean }>('select to_regclass($1) is not null as found', [table]);
  if (found.rows[0]?.found !== true) return false;
  const { rows } = await pool.query<{ has_runs: boolean }>(
    `select exists (select from ${table}) as has_runs`,
  );
  return rows[0]?.has_runs === true;
}
