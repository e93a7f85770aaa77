// Loads pages that were read into their tables: one statement per table, in the caller's transaction.
// Knows what a batch does to the mirror; refuses to know how pages are fetched and when a run is at its end.
//
// Times. A row's _first_seen_at and _changed_at are times of observation, like _observed_at: a load gives the same
// rows whenever it commits. An unchanged row is not written, so its _observed_at stays at the observation that wrote
// it (`touch` is for single reads, which must stand against every older page). The price: content that flips there
// and back between three answers, and whose middle answer commits last, ends as the middle one until the next sync.

import { CompiledQuery } from 'kysely';
import type { ListedResource } from '../contract/resources.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { makeBatchRows, type RowGroup } from './batch-rows.ts';
import { toBinaryArray, toInstantArray } from './binary-array.ts';
import { countMet, type LoadRun } from './count-met.ts';
import { markGoneLinks } from './gone-links.ts';
import { lockForLoading } from './loading-lock.ts';
import { COLUMN_NAMES, COLUMN_TYPES } from './mirrored-tables.ts';
import type { LoadedResource, ReadPage } from './read-page.ts';
import { recordRejections } from './rejected-records.ts';
import { saveSeenRows } from './seen-rows.ts';
import { type Upserted, type UpsertShape, upsertStatement } from './upsert-statement.ts';

/** Up to here loads work beside each other, as payments do; a page of a list works alone and faster. */
const SMALL_LOAD_RECORDS = 20;

export type LoadInput = {
  readonly pages: readonly ReadPage[];
  /** Makes unchanged rows take the time of this observation: nothing older can overwrite them afterwards. */
  readonly touch?: boolean;
} & (
  | { readonly run: LoadRun; readonly resource: ListedResource }
  /** Outside a run nothing is noted as seen. */
  | { readonly run: null; readonly resource: LoadedResource }
);

/** How each record was counted: seen is always the sum of the five after it. */
export interface LoadCounts {
  readonly seen: number;
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly repeated: number;
}

export interface LoadResult extends LoadCounts {
  /** Identifiers that the run had not met before, rejected records included. */
  readonly fresh: number;
  /** Rejected records without a usable identifier: they exist upstream, but no identifier stands for them. */
  readonly anonymousRejected: number;
  /** Call once the transaction is committed, and only then. */
  afterCommit(): void;
}

/**
 * Loads the pages and gives back how every record was counted: by what it did to its own row; nested rows are loaded
 * and not counted. Of several observations of a record the newest counts, and one that is older than its row's
 * changes nothing.
 * One load to a transaction, before anything else in it is locked: a second one could wait for another's and that
 * one for it.
 * Idempotent: yes; the second load of the same pages writes no row.
 */
export async function loadBatch(trx: DatabaseTransaction, input: LoadInput): Promise<LoadResult> {
  const { pages, run, resource, touch = false } = input;
  const rows = makeBatchRows();
  for (const page of pages) for (const row of page.rows) rows.add(row);
  const groups = rows.groups();
  const seen = pages.reduce((count, { ids }) => count + ids.length, 0);
  const isAlone = run !== null || seen > SMALL_LOAD_RECORDS || groups.some((ofTable) => ofTable.length > 1);
  await lockForLoading(trx, { isAlone, runId: run?.id ?? null });
  const own: Upserted[] = [];
  for (const group of groups.flat()) {
    const isNumbered = run !== null && group.table === resource;
    const how = isNumbered ? 'numbered' : isAlone ? 'alone' : 'beside';
    const upserted = await loadGroup(trx, group, { how, touch });
    if (group.table === resource) own.push(upserted);
  }
  await markGoneLinks(
    trx,
    pages.flatMap(({ namedLinks }) => namedLinks),
  );
  const rejections = pages.flatMap((page) => page.rejections);
  const valid = groups.flat().flatMap((group) => (group.table === resource ? group.rows : []));
  const met = await countMet(trx, input, { valid: valid.map(({ id }) => id), rejections, upserted: own });
  const { recorded, anonymous } = await recordRejections(
    trx,
    { runId: run?.id ?? null, resource },
    rejections,
  );
  if (run !== null) await saveSeenRows(trx, run.id, met.newNumbers);

  const inserted = sum(own, (upserted) => upserted.inserted);
  const updated = sum(own, (upserted) => upserted.updated);
  const unchanged = met.freshValid - (inserted + updated - met.writtenAgain);
  return {
    seen,
    inserted,
    updated,
    unchanged,
    rejected: recorded,
    repeated: seen - inserted - updated - unchanged - recorded,
    fresh: met.freshValid + met.freshRejected,
    anonymousRejected: anonymous,
    afterCommit: () => run?.seen.add(met.newNumbers),
  };
}

async function loadGroup(
  trx: DatabaseTransaction,
  { table, places, rows }: RowGroup,
  { how, touch }: Pick<UpsertShape, 'how' | 'touch'>,
): Promise<Upserted> {
  const hasExtra = rows.some(({ extra }) => extra !== null);
  const parameters = places.map((place) =>
    toBinaryArray(
      typeAt(table, place),
      rows.map(({ values }) => values[place]),
    ),
  );
  if (hasExtra) {
    parameters.push(
      toBinaryArray(
        'jsonb',
        rows.map(({ extra }) => extra),
      ),
    );
  }
  parameters.push(toInstantArray(rows.map(({ observedAtMicros }) => observedAtMicros)));
  const answer = await trx.executeQuery<Upserted>(
    CompiledQuery.raw(upsertStatement({ table, places, hasExtra, how, touch }), parameters),
  );
  const [upserted] = answer.rows;
  if (upserted === undefined) throw new TypeError(`the load of ${table} gave back no counts`);
  return upserted;
}

function typeAt(table: RowGroup['table'], place: number) {
  const type = COLUMN_TYPES[table][COLUMN_NAMES[table][place] ?? ''];
  if (type === undefined) throw new TypeError(`${table} has no column ${place}`);
  return type;
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
