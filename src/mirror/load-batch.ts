// Loads pages into their tables, in the caller's transaction and under the lock of loads: one statement for each table,
// as a rule.
//
// Times. A row's _first_seen_at is a time of observation, like _observed_at, and does not depend on the commit. Its
// _changed_at is the stamp of the transaction (functions/history.sql), in the order of the commits. An unchanged row is
// not written, so its _observed_at stays at the observation that wrote it (`touch` is for single reads, which no older
// page may overwrite). The cost: if content changes and changes back between three answers, and the middle answer
// commits last, the row keeps the middle content until the next sync.

import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { joinRows } from '../decode/batch-rows.ts';
import type { DecodedPage, NestedRejection } from '../decode/decode-page.ts';
import type { EncodedRows } from '../decode/page-rows.ts';
import { PLAIN } from '../decode/treatment.ts';
import { lockForLoading } from './load-lock.ts';
import type { Upserted } from './load-statements.ts';
import { findUnnamedLinks, leavePayouts } from './mark-deleted.ts';
import { recordRejections } from './rejected-records.ts';
import { countMet, type LoadRun, type NewlySeen, saveSeenRows } from './runs/seen-rows.ts';
import { insertNew, sendInHalves, upsertRows } from './send-rows.ts';

/** Outside a run no record is noted as seen. */
export type LoadInput =
  | {
      readonly run: LoadRun;
      readonly resource: ListedResource;
      readonly pages: readonly DecodedPage[];
      /** For a retry after the database refused the rows together: it then refuses single rows. */
      readonly isInHalves?: boolean;
    }
  | {
      readonly run: null;
      readonly resource: ListedResource;
      readonly pages: readonly [DecodedPage];
      /** Unchanged rows of the resource take the time of this observation too, so that no older one overwrites them. */
      readonly touch?: boolean;
    };

/** Seen is always the sum of the five after it. */
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
  /** For the run's seen rows, once the transaction is committed, and only then. */
  readonly met: NewlySeen;
}

/**
 * Loads the pages, and counts each record by the change of its own row; nested rows are loaded and not counted. The
 * newest observation of a record counts, and one that is older than the row's changes nothing.
 * A transaction may load once, before it locks anything else: otherwise two transactions could wait for each other.
 * Idempotent: yes; the second load of the same pages writes no row.
 *
 * Throws: PersonalDataMismatch; the errors of the database. A unique violation may mean the end of a run's first load:
 * the transaction must be repeated, as transact does.
 */
export async function loadBatch(trx: DatabaseTransaction, input: LoadInput): Promise<LoadResult> {
  const { run, resource } = input;
  const touch = input.run === null && input.touch === true;
  const pages: readonly DecodedPage[] = input.pages;
  const seen = sum(pages, ({ ids }) => ids.length);
  const statements = joinRows(pages.map(({ rows }) => rows));
  const { treatment = PLAIN } = pages[0] ?? {};
  await lockForLoading(trx, { runId: run?.id ?? null, treatment });
  const isInHalves = input.run !== null && input.isInHalves === true;
  const own: Upserted[] = [];
  const refused: NestedRejection[] = [];
  const valid = new Set<string>();
  for (const rows of statements) {
    const isOwn = rows.table === resource;
    // A single page gains little from an insert without comparison, and often repeats records: the head, a list that
    // moves. A record that is on two pages of a batch is in the table when its second statement comes.
    const isRepeated = rows.ids.some((id) => valid.has(id));
    const isNew = isOwn && pages.length > 1 && !isRepeated && !isInHalves;
    const firstLoad = isNew && run?.firstLoad.isOn() ? run.firstLoad : null;
    const isNumbered = run !== null && isOwn;
    // Only its own list revives a listed record. The API may go on naming a record that it no longer has: every sync
    // would mark it deleted and revive it.
    const revives = isOwn || !LISTED_RESOURCES.some((listed) => listed === rows.table);
    // An affiliate lists its links. A referral may name a link that is deleted, or that is another affiliate's by now.
    const keepsOwner = rows.table === 'links' && resource !== 'affiliates';
    const send = (some: EncodedRows) =>
      firstLoad === null
        ? upsertRows(trx, some, { isNumbered, touch: touch && isOwn, revives, keepsOwner })
        : insertNew(trx, firstLoad, some);
    const sent = isInHalves
      ? await sendInHalves(trx, rows, treatment, send)
      : { upserted: [await send(rows)], refused: [] };
    refused.push(...sent.refused);
    if (!isOwn) continue;
    own.push(...sent.upserted);
    const lacking = new Set(sent.refused.map(({ id }) => id));
    for (const id of rows.ids) if (!lacking.has(id)) valid.add(id);
  }
  // If a record is on two pages, the later one has its list.
  const listings = [
    ...new Map(pages.flatMap((page) => page.listings.map((one) => [one.ownerId, one]))).values(),
  ];
  const unnamedLinks = resource === 'affiliates' ? await findUnnamedLinks(trx, listings) : [];
  if (resource === 'payouts') await leavePayouts(trx, listings);
  const rejections = [
    ...pages.flatMap((page) => page.rejections),
    ...refused.filter(({ table }) => table === resource),
  ];
  const met = { ...(await countMet(trx, input, { valid, rejections, upserted: own })), unnamedLinks };
  const recorded = await recordRejections(trx, { runId: run?.id ?? null, resource }, rejections);
  const nested = [
    ...pages.flatMap(({ nestedRejections }) => nestedRejections),
    ...refused.filter(({ table }) => table !== resource),
  ];
  for (const [table, refused] of Map.groupBy(nested, (one) => one.table)) {
    await recordRejections(trx, { runId: run?.id ?? null, resource: table }, refused);
  }
  if (run !== null) await saveSeenRows(trx, run.id, met);

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
    met,
  };
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}
