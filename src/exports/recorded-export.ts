// An export that goes on where the last one to the same target ended, and is written down: of the changes since, or of
// everything on a schedule. One at a time for each target and object.
//
// Why nothing is lost: the watermark is read from the snapshot that is exported, and is written down only after the
// manifest is there. Whoever is stopped between the two exports the same changes once more. And a row that is committed
// later has a greater _changed_at than all that are visible already: src/mirror gives them in the order of commits.

import { sql } from 'kysely';
import type { Pool } from 'pg';
import type { Timestamp } from '../contract/timestamp.ts';
import { readNow } from '../db/clock.ts';
import type { Database } from '../db/database.ts';
import { withSessionLock } from '../db/session-lock.ts';
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

/** Returns what became of it. Throws: as exportRelation. */
export async function exportRecorded(
  { pool, db }: RecordedDeps,
  input: RecordedInput,
): Promise<RecordedOutcome> {
  const key = keyOf(input);
  const name = `export ${key.kind} of ${key.object} to ${key.target}`;
  const locked = await withSessionLock(db, { name, isPatient: false }, async (): Promise<RecordedOutcome> => {
    // Before the snapshot: whatever was there by then is in the export.
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

/** Returns when the last export of it to the target began; null where there was none. */
export async function readLastExport(db: Database, input: KeyInput): Promise<number | null> {
  const { target, object, kind } = keyOf(input);
  const { rows } = await sql<{ at_ms: number }>`
    select (extract(epoch from began_at) * 1000)::bigint as at_ms from exports
    where target = ${target} and object = ${object} and kind = ${kind}`.execute(db);
  return rows[0]?.at_ms ?? null;
}

interface Key {
  readonly target: string;
  readonly object: string;
  readonly kind: 'whole' | 'changes';
}

type KeyInput = Pick<RecordedInput, 'mirrorSchema' | 'target' | 'name' | 'isForChanges'>;

/** Changes are those of a table of the mirror, with or without its schema in the name: they go to one directory. */
function keyOf({ mirrorSchema, target, name, isForChanges }: KeyInput): Key {
  const schema = `${mirrorSchema}.`;
  const object = isForChanges && name.startsWith(schema) ? name.slice(schema.length) : name;
  return { target: nameTarget(target), object, kind: isForChanges ? 'changes' : 'whole' };
}

/** Returns how far the last export of it came; null where there was none. */
async function readLast(
  db: Database,
  { target, object, kind }: Key,
): Promise<{ readonly watermark: Timestamp | null } | null> {
  const { rows } = await sql<{ watermark: Timestamp | null }>`
    select watermark from exports
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
