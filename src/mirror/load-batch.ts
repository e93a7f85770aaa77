// Loads pages of records into their tables: one statement per table, in the caller's transaction.
// Knows what a batch does to the mirror; refuses to know how pages are fetched and when a run is at its end.
//
// Times. A row's _first_seen_at and _changed_at are times of observation, like _observed_at: a load gives the same
// rows whenever it commits. An unchanged row is not written, so its _observed_at stays at the observation that wrote
// it (`touch` is for single reads, which must stand against every older page). The price: content that flips there
// and back between three answers, and whose middle answer commits last, ends as the middle one until the next sync.

import { setImmediate } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { Instant } from '../api/slot.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { makeBatchRows, type RowGroup } from './batch-rows.ts';
import { toBinaryArray, toInstantArray, toMicros } from './binary-array.ts';
import type { DriftWatch } from './drift-watch.ts';
import { markGoneLinks, type NamedLinks, readNamedLinks } from './gone-links.ts';
import type { CacheBatch, LoadedCache } from './loaded-cache.ts';
import { lockForLoading } from './loading-lock.ts';
import { COLUMNS, type MirroredTable } from './mirrored-tables.ts';
import { parseRecord, usableId } from './parse-record.ts';
import { type Rejection, recordRejections } from './rejected-records.ts';
import { markSeen } from './seen-ids.ts';
import { upsertStatement } from './upsert-statement.ts';

/** Up to here loads work beside each other, as payments do; a page of a list works alone and faster. */
const SMALL_LOAD_RECORDS = 20;

export interface ObservedPage {
  /** When the request was granted its slot: the page knows of nothing that happened later. */
  readonly observedAt: Instant;
  /** As the program sent them, in the contract's spelling. */
  readonly records: readonly unknown[];
}

export interface LoadInput {
  /** Null for a single read outside a run: nothing is noted as seen then. */
  readonly runId: number | null;
  readonly resource: 'affiliates' | 'referrals' | 'commissions';
  readonly pages: readonly ObservedPage[];
  /** Nested records that the run need not load again. Make one per run; call `afterCommit`. */
  readonly cache?: LoadedCache;
  readonly drift?: DriftWatch;
  /** Makes unchanged rows take the time of this observation: nothing older can overwrite them afterwards. */
  readonly touch?: boolean;
}

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
  /** Rejected records without a usable identifier: they exist upstream, but no seen id stands for them. */
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
  const { runId, resource, touch = false } = input;
  const cache = input.cache?.openBatch() ?? null;
  const ids = usableIds(input.pages);
  const isLarge = countRecords(input.pages) > SMALL_LOAD_RECORDS;
  const markIds = async () => (runId === null ? [] : markSeen(trx, runId, ids));
  const readRows = async () => {
    const batch = readPages(input, cache);
    return { ...batch, groups: batch.rows.groups() };
  };

  let isAlone = isLarge;
  let batch: Awaited<ReturnType<typeof readRows>>;
  let known: readonly string[];
  if (isLarge) {
    // The records are checked while Postgres notes their identifiers: half of the checking costs no time that way.
    await lockForLoading(trx, { isAlone, runId });
    const marking = markIds();
    [known, batch] = await Promise.all([marking, setImmediate().then(readRows)]);
  } else {
    batch = await readRows();
    isAlone = batch.groups.some((ofTable) => ofTable.length > 1);
    await lockForLoading(trx, { isAlone, runId });
    known = await markIds();
  }
  const written: Written = { inserted: 0, updated: 0, known: 0 };
  for (const group of batch.groups.flat()) {
    const result = await loadGroup(trx, group, { isAlone, touch, known });
    if (group.table !== resource) continue;
    written.inserted += result.inserted;
    written.updated += result.updated;
    written.known += result.written_known;
  }
  await markGoneLinks(trx, batch.namedLinks);
  const { recorded, anonymous } = await recordRejections(trx, { runId, resource }, batch.rejections);

  const knownIds = new Set(known);
  const freshValid = batch.validIds.size - [...batch.validIds].filter((id) => knownIds.has(id)).length;
  const unchanged = freshValid - (written.inserted + written.updated - written.known);
  return {
    seen: batch.seen,
    inserted: written.inserted,
    updated: written.updated,
    unchanged,
    rejected: recorded,
    repeated: batch.seen - written.inserted - written.updated - unchanged - recorded,
    fresh: ids.length - known.length,
    anonymousRejected: anonymous,
    afterCommit: () => cache?.learn(),
  };
}

interface Written {
  inserted: number;
  updated: number;
  known: number;
}

function countRecords(pages: readonly ObservedPage[]): number {
  return pages.reduce((count, { records }) => count + records.length, 0);
}

function usableIds(pages: readonly ObservedPage[]): readonly string[] {
  const ids = new Set<string>();
  for (const { records } of pages) {
    for (const record of records) {
      const id = usableId(record);
      if (id !== null) ids.add(id);
    }
  }
  return [...ids];
}

function readPages({ resource, pages, drift }: LoadInput, cache: CacheBatch | null) {
  const rows = makeBatchRows();
  const validIds = new Set<string>();
  const rejections: Rejection[] = [];
  const namedLinks: NamedLinks[] = [];
  let seen = 0;
  for (const { observedAt, records } of pages) {
    const observedAtMicros = toMicros(observedAt);
    seen += records.length;
    for (const record of records) {
      const parsed = parseRecord({ cache, drift: drift ?? null }, resource, record, observedAtMicros);
      if ('rows' in parsed) {
        validIds.add(parsed.id);
        for (const row of parsed.rows) rows.add(row);
        const links = resource === 'affiliates' ? readNamedLinks(record, observedAt) : null;
        if (links !== null) namedLinks.push(links);
      } else {
        rejections.push({ ...parsed, payload: record, observedAt });
      }
    }
  }
  return { rows, validIds, rejections, namedLinks, seen };
}

async function loadGroup(
  trx: DatabaseTransaction,
  { table, columns, rows }: RowGroup,
  options: { isAlone: boolean; touch: boolean; known: readonly string[] },
): Promise<{ inserted: number; updated: number; written_known: number }> {
  const { isAlone, touch, known } = options;
  const hasExtra = rows.some(({ extra }) => extra !== null);
  const parameters = columns.map((column) =>
    toBinaryArray(
      typeOf(table, column),
      rows.map((row) => row.columns[column]),
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
  parameters.push(toBinaryArray('text', known));
  const answer = await trx.executeQuery<{ inserted: number; updated: number; written_known: number }>(
    CompiledQuery.raw(upsertStatement({ table, columns, hasExtra, isAlone, touch }), parameters),
  );
  return answer.rows[0] ?? { inserted: 0, updated: 0, written_known: 0 };
}

function typeOf(table: MirroredTable, column: string) {
  const type = COLUMNS[table].get(column);
  if (type === undefined) throw new TypeError(`${table} has no column ${column}`);
  return type;
}
