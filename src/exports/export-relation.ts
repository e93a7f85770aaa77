// One export, from the database to its target: whole, or nothing.
//
// Every row is of one moment (a snapshot). A file is written as its rows are read, so memory does not grow with them;
// the manifest is written last. Whatever goes wrong, or stops it, removes what was written.

import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import type { ExportFormat } from '../config/exports.ts';
import { counted } from '../contract/format.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { onlyRow } from '../db/only-row.ts';
import { PausedTooLong, withSnapshot } from '../db/snapshot.ts';
import { describeError } from '../describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../errors.ts';
import { readVersion } from '../package.ts';
import { CSV } from './formats/csv.ts';
import type { Format } from './formats/format.ts';
import { NDJSON } from './formats/ndjson.ts';
import { XLSX } from './formats/xlsx.ts';
import type { Manifest, ManifestFile } from './manifest.ts';
import { CHANGED_AT, findRelation, hasColumn, type Relation } from './relation.ts';
import { type Rows, readRows } from './rows.ts';
import { splitByDay } from './split-by-day.ts';
import { chooseDayColumn, readWatermark, writeStatement } from './statement.ts';
import type { Delivery } from './targets/delivery.ts';
import { startDelivery, type Target } from './targets/target.ts';

/**
 * A target may take this long between two reads of a thousand rows. Longer than the slowest part of an upload that
 * succeeds, with its five tries of two minutes each (targets/s3-call.ts).
 */
const LONGEST_PAUSE_MS = 15 * 60_000;

export interface ExportInput {
  readonly mirrorSchema: string;
  /** The table or view, with or without its schema. */
  readonly name: string;
  readonly format: ExportFormat;
  readonly target: Target;
  /** SQL of the user's own. */
  readonly where: string | null;
  readonly isByDay: boolean;
  /** Only what changed after that, deletions included; null for every row. */
  readonly since: Timestamp | null;
  /** Whether changes are asked for, also where `since` is null: the first time of an incremental export. */
  readonly isForChanges: boolean;
  /** Whether an export without a row is written as well. */
  readonly isWrittenIfEmpty: boolean;
  readonly signal: AbortSignal;
  readonly longestPauseMs?: number;
}

export interface Exported {
  readonly manifest: Manifest;
  /** Null where nothing changed since: nothing was written, and the manifest names no file. */
  readonly location: string | null;
}

/**
 * Returns what was exported.
 *
 * Throws: ConfigError where the name, the user's SQL or the target cannot be used; ExportTargetUnwritable; the
 * database's errors; the signal's reason when aborted.
 */
export async function exportRelation(pool: Pool, input: ExportInput): Promise<Exported> {
  const { signal, target, longestPauseMs = LONGEST_PAUSE_MS } = input;
  const encoder = await loadFormat(input.format);
  const started: { delivery: Delivery | null } = { delivery: null };
  try {
    const manifest = await withSnapshot(pool, { signal, longestPauseMs }, async (client) => {
      const plan = await makePlan(client, input);
      if (!input.isWrittenIfEmpty && plan.watermark === input.since) return describe(input, plan, []);
      const { contentType } = encoder;
      const delivery = await startDelivery(target, { name: plan.directory, contentType, signal });
      started.delivery = delivery;
      return describe(input, plan, await writeFiles(client, { ...input, ...plan, encoder, delivery }));
    });
    // Once the database has nothing more to say: an export that is there is whole, and was no failure.
    await started.delivery?.publish(`${JSON.stringify(manifest, null, 2)}\n`);
    return { manifest, location: started.delivery?.location ?? null };
  } catch (error) {
    const { delivery } = started;
    const why =
      error instanceof PausedTooLong
        ? new ExportTargetUnwritable(describeTooSlow(delivery?.location ?? input.name, longestPauseMs))
        : error;
    if (delivery !== null) await discard(delivery, why);
    throw why;
  }
}

function describeTooSlow(location: string, longestPauseMs: number): string {
  const minutes = counted(Math.ceil(longestPauseMs / 60_000), 'minute');
  return `cannot write ${location}: it took nothing more for ${minutes}, or this process was stopped, and no export keeps Postgres from cleaning up for longer: export to a file first, or to a faster target`;
}

interface Plan {
  readonly relation: Relation;
  readonly asOf: Timestamp;
  readonly watermark: Timestamp | null;
  readonly dayOf: string | null;
  /** Where it belongs in a target that holds several exports. */
  readonly directory: string;
}

async function makePlan(client: PoolClient, input: ExportInput): Promise<Plan> {
  const { since, isByDay, isForChanges } = input;
  const relation = await findRelation(client, input);
  if (since !== null && !hasColumn(relation, CHANGED_AT)) {
    throw new ConfigError([`${relation.name} has no column ${CHANGED_AT}: leave out --since`]);
  }
  const dayOf = isByDay ? chooseDayColumn(relation, isForChanges) : null;
  // When the transaction began, just before the moment that it sees: whatever was committed by then is exported.
  const answer = await client.query<{ as_of: Timestamp }>('select now() as as_of');
  const asOf = onlyRow(answer, 'the clock').as_of;
  const watermark = await readWatermark(client, relation);
  // Each export has a directory of its own, named by its time: nothing that a reader reads is ever written over.
  const folder = isForChanges ? `${relation.name}_changes` : relation.name;
  return { relation, asOf, watermark, dayOf, directory: `${folder}/${nameDirectory(asOf)}` };
}

/** Returns the name, with all six digits of the microseconds: the order of names is that of time. */
export function nameDirectory(asOf: Timestamp): string {
  const [second = '', fraction = ''] = asOf.replace('Z', '').split('.');
  return `export=${second.replace(/[-:]/g, '')}${fraction.padEnd(6, '0')}Z`;
}

interface Writing extends ExportInput, Plan {
  readonly encoder: Format;
  readonly delivery: Delivery;
}

async function writeFiles(client: PoolClient, writing: Writing): Promise<readonly ManifestFile[]> {
  const { relation, format, encoder, dayOf, where } = writing;
  const statement = writeStatement(relation, writing, encoder.express);
  const rows = readRows(client, statement, { where });
  const name = `${relation.name}.${format}`;
  if (dayOf === null) return [await writeFile(writing, name, rows)];
  const files: ManifestFile[] = [];
  for await (const day of splitByDay(rows)) {
    files.push(await writeFile(writing, `day=${day.day}/${name}`, day.rows));
  }
  return files;
}

async function writeFile(
  { relation, encoder, delivery }: Writing,
  path: string,
  batches: Rows,
): Promise<ManifestFile> {
  const { name: title, columns } = relation;
  const hash = createHash('sha256');
  let rows = 0;
  let bytes = 0;
  async function* counted() {
    for await (const batch of batches) {
      rows += batch.length;
      yield batch;
    }
  }
  const file = await delivery.openFile(path);
  await encoder.write({ title, columns, rows: counted() }, async (chunk) => {
    hash.update(chunk);
    bytes += chunk.byteLength;
    await file.write(chunk);
  });
  await file.close();
  return { path, rows, bytes, sha256: hash.digest('hex') };
}

function describe(input: ExportInput, plan: Plan, files: readonly ManifestFile[]): Manifest {
  const { relation, asOf, watermark, dayOf } = plan;
  return {
    object: `${relation.schema}.${relation.name}`,
    kind: input.isForChanges ? 'changes' : 'whole',
    format: input.format,
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    as_of: asOf,
    since: input.since,
    watermark,
    where: input.where,
    partitioned_by: dayOf,
    columns: relation.columns.map(({ name, type }) => ({ name, type })),
    files,
    version: readVersion(),
  };
}

/** Throws: ExportTargetUnwritable, with both reasons, where something of it could not be removed. */
async function discard(delivery: Delivery, why: unknown): Promise<void> {
  try {
    await delivery.discard();
  } catch (error) {
    throw new ExportTargetUnwritable(
      `${describeError(why)}; and what was written of it could not be removed, which is an export only if its manifest is there: ${describeError(error)}`,
      { cause: why },
    );
  }
}

/** Parquet's library is loaded where it is asked for: it takes a tenth of the start of an export. */
async function loadFormat(name: ExportFormat): Promise<Format> {
  if (name === 'parquet') return (await import('./formats/parquet.ts')).PARQUET;
  return { csv: CSV, ndjson: NDJSON, xlsx: XLSX }[name];
}
