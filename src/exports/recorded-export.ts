// A recorded export: of the changes since the last one to the same target, or of everything on a schedule. One at a
// time for each target and object.
//
// Why nothing is lost: the watermark is read from the exported snapshot, and is stored only after the manifest exists.
// A process that is stopped between the two exports the same changes once more. A row that is committed later has a
// greater _changed_at than all visible ones, because src/mirror stamps rows in the order of the commits.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import { readNow } from '../db/clock.ts';
import type { Pool } from '../db/connect/shared-pool.ts';
import type { Database } from '../db/database.ts';
import { withLock } from '../db/locks/process-session.ts';
import { type Exported, type ExportInput, exportRelation } from './export-relation.ts';
import { type CollectingTarget, nameTarget } from './targets/target.ts';

export interface RecordedDeps {
  readonly pool: Pool;
  readonly db: Database;
}

export interface RecordedInput extends Omit<ExportInput, 'where' | 'since' | 'target' | 'isWrittenIfEmpty'> {
  readonly target: CollectingTarget;
}

export type RecordedOutcome =
  | { readonly kind: 'exported'; readonly exported: Exported }
  /** Another process exports the same to the same target. */
  | { readonly kind: 'busy' };

/** Throws: as exportRelation. */
export async function exportRecorded(
  { pool, db }: RecordedDeps,
  input: RecordedInput,
): Promise<RecordedOutcome> {
  const key = keyOf(input);
  const name = `export ${key.kind} of ${key.object} to ${key.target}`;
  const locked = await withLock(db, name, async (): Promise<RecordedOutcome> => {
    // Before the snapshot, so that all that was committed by then is in the export.
    const beganAt = await readNow(db);
    const last = input.isForChanges ? await readLast(db, key) : null;
    const since = last?.watermark ?? null;
    const exported = await exportRelation(pool, {
      ...input,
      where: null,
      since,
      isWrittenIfEmpty: last === null,
    });
    await record(db, key, { exported, beganAt });
    return { kind: 'exported', exported };
  });
  return locked.isHeldByOther ? { kind: 'busy' } : locked.result;
}

/** Returns when the last such export to the target began, in milliseconds since 1970; null if there was none. */
export async function readLastExport(db: Database, input: KeyInput): Promise<number | null> {
  return (await readLast(db, keyOf(input)))?.began_ms ?? null;
}

interface Key {
  readonly target: string;
  readonly object: string;
  readonly kind: 'whole' | 'changes';
}

type KeyInput = Pick<RecordedInput, 'mirrorSchema' | 'target' | 'name' | 'isForChanges'>;

/** Changes of a table go to one directory, with or without its schema in the name. */
function keyOf({ mirrorSchema, target, name, isForChanges }: KeyInput): Key {
  const schema = `${mirrorSchema}.`;
  const object = isForChanges && name.startsWith(schema) ? name.slice(schema.length) : name;
  return { target: nameTarget(target), object, kind: isForChanges ? 'changes' : 'whole' };
}

interface LastExport {
  readonly began_ms: number;
  readonly watermark: Timestamp | null;
}

async function readLast(db: Database, { target, object, kind }: Key): Promise<LastExport | null> {
  const { rows } = await sql<LastExport>`
    select (extract(epoch from began_at) * 1000)::bigint as began_ms, watermark from exports
    where target = ${target} and object = ${object} and kind = ${kind}`.execute(db);
  return rows[0] ?? null;
}

async function record(
  db: Database,
  { target, object, kind }: Key,
  { exported, beganAt }: { exported: Exported; beganAt: Timestamp },
): Promise<void> {
  const { manifest, location } = exported;
  await sql`
    insert into exports as known (target, object, kind, watermark, rows, location, began_at)
    values (${target}, ${object}, ${kind}, ${manifest.watermark}, ${manifest.rows}, ${location}, ${beganAt})
    on conflict (target, object, kind) do update
    set watermark = coalesce(excluded.watermark, known.watermark),
        began_at = excluded.began_at, exported_at = excluded.exported_at,
        rows = case when excluded.location is null then known.rows else excluded.rows end,
        location = coalesce(excluded.location, known.location)`.execute(db);
}
