// BullMQ's own tables in Postgres: their schema, and their migrations, which are part of BullMQ.

import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  type PgQueryable,
  runMigrations as runQueueMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} from 'bullmq';
import { SchemaMismatch } from '../../base/errors.ts';
import { siblingSchema } from '../../config/program/sibling-schema.ts';
import type { Pool } from '../../db/connect/shared-pool.ts';
import { isLackOfRights } from '../../db/database-errors.ts';
import { mayNotCreateSchema } from '../../db/migrate/migrate.ts';
import { onlyRow } from '../../db/only-row.ts';

/** One queue for all work of a mirror: each queue costs connections. */
export const QUEUE_NAME = 'work';

export interface QueueSettings {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly mirrorSchema: string;
}

/**
 * Brings BullMQ's own tables up to date if the queue is in Postgres. Idempotent: yes.
 *
 * Throws: SchemaMismatch if a newer BullMQ made them.
 */
export async function migrateQueue(pool: Pool, settings: QueueSettings): Promise<void> {
  if (settings.redisUrl !== null) return;
  const schema = queueSchema(settings.mirrorSchema);
  const client = await pool.connect();
  let isBroken = true;
  try {
    await runQueueMigrations(withoutCreatingSchema(client, schema), schema);
    // "if not exists" lets two sessions make it at the same time: workers that start together would fail on its name.
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
      `affiliate-mirror queue of ${schema}`,
    ]);
    await makeJobSequence(client, schema, QUEUE_NAME);
    // Every job leaves dead rows behind, and claiming one slows down with each until they are vacuumed.
    for (const table of ['job', 'event']) {
      await client.query(`alter table ${schema}.${table}
        set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)`);
    }
    await client.query('commit');
    isBroken = false;
  } catch (error) {
    throw asMismatch(error, schema);
  } finally {
    client.release(isBroken);
  }
}

/**
 * Checks that BullMQ's own tables are those of the BullMQ that is installed. Redis has none.
 *
 * Throws: SchemaMismatch if they are not.
 */
export async function checkQueueSchema(pool: Pool, settings: QueueSettings): Promise<void> {
  if (settings.redisUrl !== null) return;
  const schema = queueSchema(settings.mirrorSchema);
  const client = await pool.connect();
  try {
    const version = await assertSchemaCompatibility(client, schema);
    if (version < LATEST_SCHEMA_VERSION) throw new SchemaMigrationRequiredError(schema);
  } catch (error) {
    throw asMismatch(error, schema);
  } finally {
    client.release();
  }
}

/** Returns the schema of a mirror's queue: beside the mirror's own, so that two mirrors never share one. */
export function queueSchema(mirrorSchema: string): string {
  return siblingSchema(mirrorSchema, 'queue');
}

/** Returns the schema in which the queue is; null if it is in Redis. */
export function findQueueSchema(redisUrl: string | null, mirrorSchema: string): string | null {
  return redisUrl === null ? queueSchema(mirrorSchema) : null;
}

/** Translates BullMQ's errors about the version of its tables; returns any other error as it is. */
export function asMismatch(error: unknown, schema: string): unknown {
  const subject = `the schema ${schema}, which keeps the queue,`;
  if (error instanceof SchemaMigrationRequiredError) {
    return new SchemaMismatch(`${subject} is not up to date: run affiliate-mirror migrate`);
  }
  if (error instanceof SchemaVersionMismatchError) {
    return new SchemaMismatch(`${subject} is newer than this version: update affiliate-mirror`);
  }
  return error;
}

/**
 * Returns the connection, which leaves out BullMQ's "create schema if not exists" if the schema exists: Postgres
 * asks for the right to create schemas all the same, and a schema that a DBA prepared makes it needless.
 */
function withoutCreatingSchema(client: PgQueryable, schema: string): PgQueryable {
  return {
    async query<R>(text: string, values?: readonly unknown[]) {
      if (!text.startsWith('CREATE SCHEMA IF NOT EXISTS')) return client.query<R>(text, values);
      const found = await client.query<R>('select from pg_namespace where nspname = $1', [schema]);
      if (found.rows.length > 0) return found;
      try {
        return await client.query<R>(text, values);
      } catch (error) {
        throw isLackOfRights(error) ? mayNotCreateSchema(schema, error) : error;
      }
    },
  };
}

/** Makes the sequence of a queue's jobs: BullMQ makes it with the first of them, which a worker's role may not. */
async function makeJobSequence(client: PgQueryable, schema: string, queue: string): Promise<void> {
  const answer = await client.query<{ name: string }>(`select ${schema}.job_id_seq_name($1) as name`, [
    queue,
  ]);
  const row = onlyRow(answer, 'job_id_seq_name');
  await client.query(`create sequence if not exists ${schema}.${row.name}`);
}
