// One export, from the database to its target: whole, or nothing.
//
// Every row is of one moment (a snapshot). A file is written while its rows are read, so memory does not grow with
// them; the manifest is written last. A failure or a stop removes the written files.

import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { describeError } from '../base/describe-error.ts';
import { ConfigError, ExportTargetUnwritable } from '../base/errors.ts';
import { readVersion } from '../base/package.ts';
import type { ExportFormat } from '../config/process/exports.ts';
import type { MoneyFormat } from '../contract/money.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Pool } from '../db/connect/shared-pool.ts';
import { onlyRow } from '../db/only-row.ts';
import { CSV } from './formats/csv.ts';
import type { Format } from './formats/format.ts';
import { NDJSON } from './formats/ndjson.ts';
import { XLSX } from './formats/xlsx.ts';
import type { Manifest, ManifestFile } from './manifest.ts';
import { CHANGED_AT, findRelation, hasColumn, type Relation } from './relation.ts';
import { type Rows, readRows, splitByDay } from './rows.ts';
import { withSnapshot } from './snapshot.ts';
import { chooseDayColumn, readWatermark, writeStatement } from './statement.ts';
import type { Delivery } from './targets/delivery.ts';
import { startDelivery, type Target } from './targets/target.ts';

export interface ExportInput {
  readonly mirrorSchema: string;
  /** The table or view, with or without its schema. */
  readonly name: string;
  readonly format: ExportFormat;
  /** For the workbook, which people read. */
  readonly money: MoneyFormat;
  readonly target: Target;
  /** The user's SQL. */
  readonly where: string | null;
  readonly isByDay: boolean;
  /** Only the changes after that, with deletions; null for every row. */
  readonly since: Timestamp | null;
  /** Whether changes are exported; the first incremental export has no `since`. */
  readonly isForChanges: boolean;
  /** Whether an export without rows is written as well. */
  readonly isWrittenIfEmpty: boolean;
  readonly signal: AbortSignal;
}

export interface Exported {
  readonly manifest: Manifest;
  /** Null if nothing changed since: nothing was written, and the manifest names no file. */
  readonly location: string | null;
}

/**
 * Throws: ConfigError if the name, the user's SQL or the target cannot be used; ExportTargetUnwritable; the database's
 * errors; the signal's reason when aborted.
 */
export async function exportRelation(pool: Pool, input: ExportInput): Promise<Exported> {
  const { signal, target } = input;
  const encoder = await loadFormat(input.format);
  const started: { delivery: Delivery | null } = { delivery: null };
  try {
    const manifest = await withSnapshot(pool, signal, async (client) => {
      const plan = await makePlan(client, input);
      if (!input.isWrittenIfEmpty && plan.watermark === input.since) return describe(input, plan, []);
      const { contentType } = encoder;
      const delivery = await startDelivery(target, { name: plan.directory, contentType, signal });
      started.delivery = delivery;
      return describe(input, plan, await writeFiles(client, { ...input, ...plan, encoder, delivery }));
    });
    // After the transaction has ended, so that an export with a manifest is whole.
    await started.delivery?.publish(`${JSON.stringify(manifest, null, 2)}\n`);
    return { manifest, location: started.delivery?.location ?? null };
  } catch (error) {
    if (started.delivery !== null) await discard(started.delivery, error);
    throw error;
  }
}

interface Plan {
  readonly relation: Relation;
  readonly asOf: Timestamp;
  readonly watermark: Timestamp | null;
  readonly dayOf: string | null;
  /** The directory in a target for several exports. */
  readonly directory: string;
}

async function makePlan(client: PoolClient, input: ExportInput): Promise<Plan> {
  const { since, isByDay, isForChanges } = input;
  const relation = await findRelation(client, input);
  if (since !== null && !hasColumn(relation, CHANGED_AT)) {
    throw new ConfigError([`${relation.name} has no column ${CHANGED_AT}: leave out --since`]);
  }
  const dayOf = isByDay ? chooseDayColumn(relation, isForChanges) : null;
  // The start of the transaction, just before its snapshot: all that was committed by then is exported.
  const answer = await client.query<{ as_of: Timestamp }>('select now() as as_of');
  const asOf = onlyRow(answer, 'the clock').as_of;
  const watermark = await readWatermark(client, relation);
  // Each export has its own directory, named by its time: no file that a reader may read is overwritten.
  const folder = isForChanges ? `${relation.name}_changes` : relation.name;
  return { relation, asOf, watermark, dayOf, directory: `${folder}/${nameDirectory(asOf)}` };
}

/** Returns the name with all six digits of the microseconds, so that the order of names is that of the times. */
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
  { relation, money, encoder, delivery }: Writing,
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
  await encoder.write({ title, columns, money, rows: counted() }, async (chunk) => {
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

/** Throws: ExportTargetUnwritable, with both reasons, if a part could not be removed. */
async function discard(delivery: Delivery, why: unknown): Promise<void> {
  try {
    await delivery.discard();
  } catch (error) {
    throw new ExportTargetUnwritable(
      `${describeError(why)}; and the written files could not be removed (without a manifest they are no export): ${describeError(error)}`,
      { cause: why },
    );
  }
}

/** Parquet's library is loaded only when needed: it takes a tenth of the start of an export. */
async function loadFormat(name: ExportFormat): Promise<Format> {
  if (name === 'parquet') return (await import('./formats/parquet.ts')).PARQUET;
  return { csv: CSV, ndjson: NDJSON, xlsx: XLSX }[name];
}
