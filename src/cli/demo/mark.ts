// Keeps made-up and real records apart: which mirror belongs to the demo, and who may write into it.
//
// Decision: the demo marks its mirror by the comment of the schema, where an analyst sees it too (\dn+). A mirror
// with runs and without the mark is somebody's own, and the demo keeps out of it; a mirror with the mark takes
// records of programs on this machine only (the demo's own, another sandbox). Rejected: a schema of the demo's own,
// which every other command would have to know; a note of the program's address, which may change.

import { escapeIdentifier, type Pool } from 'pg';
import { isLoopback } from '../../config/program-access.ts';
import { ConfigError } from '../../errors.ts';

const MARK = 'The mirror of affiliate-mirror demo: a made-up program. Nothing in it is real.';

/** Returns nothing; marks the schema, which exists, as the demo's. */
export async function markAsDemo(pool: Pool, schema: string): Promise<void> {
  await pool.query(`comment on schema ${escapeIdentifier(schema)} is '${MARK}'`);
}

/**
 * Resolves where the demo may write into the schema: it is missing, was never synced into, or is the demo's.
 *
 * Throws: ConfigError.
 */
export async function refuseForeignMirror(pool: Pool, schema: string): Promise<void> {
  if ((await isDemo(pool, schema)) || !(await hasRuns(pool, schema))) return;
  throw new ConfigError([
    `the schema ${schema} mirrors another program already, and the demo's made-up records do not belong there: set MIRROR_SCHEMA to a name of the demo's own, such as demo_mirror`,
  ]);
}

/**
 * Resolves where records of the program at that address may be written into the schema.
 *
 * Throws: ConfigError where the schema is the demo's, and the program is not on this machine.
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
