// BullMQ's own tables, where Postgres keeps the queue: their schema, and their migrations, which BullMQ brings along.

import {
  assertSchemaCompatibility,
  LATEST_SCHEMA_VERSION,
  runMigrations as runQueueMigrations,
  SchemaMigrationRequiredError,
  SchemaVersionMismatchError,
} from 'bullmq';
import { siblingSchema } from '../db/sibling-schema.ts';
import { SchemaMismatch } from '../errors.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { makeJobSequence, withoutCreatingSchema } from './postgres-backend.ts';

/** One queue for all work of a mirror: all of it is paused together, and each queue costs connections. */
export const QUEUE_NAME = 'work';

export interface QueueSettings {
  readonly redisUrl: string | null;
  readonly databaseUrl: string;
  readonly mirrorSchema: string;
}

/**
 * Brings BullMQ's own tables up to date where the queue is in Postgres. Idempotent: yes.
 *
 * Throws: SchemaMismatch where a newer BullMQ made them.
 */
export async function migrateQueue(pool: ConnectionPool, settings: QueueSettings): Promise<void> {
  if (settings.redisUrl !== null) return;
  const schema = queueSchema(settings.mirrorSchema);
  const client = await pool.connect();
  let isBroken = true;
  try {
    await runQueueMigrations(withoutCreatingSchema(client, schema), schema);
    // "if not exists" keeps nobody from making it at the same time: workers that start together would fail on its name.
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
 * Throws: SchemaMismatch where they are not.
 */
export async function checkQueueSchema(pool: ConnectionPool, settings: QueueSettings): Promise<void> {
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

/** Returns what to do where BullMQ says that the tables of the schema are not its own; another error as it is. */
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
