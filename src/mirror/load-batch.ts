// Loads pages that were read into their tables, in the caller's transaction and under the lock of loads: one statement
// per table, as a rule.
//
// Times. A row's _first_seen_at is a time of observation, like _observed_at: a load writes the same whenever it
// commits. Its _changed_at is the stamp of the transaction (migrations/0003_history.sql), in the order of the commits.
// An unchanged row is not written, so its _observed_at stays at the observation that wrote it (`touch` is for single
// reads, which no older page may overwrite). The cost: content that changes and changes back between three answers, and
// whose middle answer commits last, stays as in the middle one until the next sync.

import { sql } from 'kysely';
import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { joinRows } from '../records/batch-rows.ts';
import type { EncodedRows } from '../records/page-rows.ts';
import type { NestedRejection, ReadPages } from '../records/read-page.ts';
import { PLAIN, type Treatment } from '../records/treatment.ts';
import { countMet, type LoadRun } from './count-met.ts';
import { insertNew } from './first-load.ts';
import { findUnnamedLinks } from './gone-links.ts';
import { sendApart } from './load-apart.ts';
import { sendRows, type Upserted } from './load-statement.ts';
import { refuseOtherMode } from './refuse-other-mode.ts';
import { recordRejections } from './rejected-records.ts';
import { type NewlySeen, saveSeenRows } from './runs/seen-rows.ts';
import type { UpsertShape } from './upsert-conditions.ts';
import { upsertStatement } from './upsert-statement.ts';

/** Loads of up to so many records run beside each other, as payments do; a page of a list runs alone and is faster. */
const SMALL_LOAD_RECORDS = 20;

/** Outside a run nothing is noted as seen, and all pages were read together. */
export type LoadInput =
  | {
      readonly run: LoadRun;
      readonly resource: ListedResource;
      readonly pages: readonly ReadPages[];
      /** Has the database refuse single rows instead of all: after it has refused them together. */
      readonly isApart?: boolean;
    }
  | {
      readonly run: null;
      readonly resource: ListedResource;
      readonly pages: readonly [ReadPages];
      /**
       * Makes unchanged rows of the resource take the time of this observation: nothing older can overwrite them
       * afterwards.
       */
      readonly touch?: boolean;
    };

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
  /** For the run's own notes, once the transaction is committed, and only then. */
  readonly met: NewlySeen;
}

/**
 * Loads the pages and returns how every record was counted: by what it did to its own row; nested rows are loaded
 * and not counted. Of several observations of a record the newest counts, and one that is older than its row's
 * changes nothing.
 * One load to a transaction, before anything else in it is locked: with a second one, two transactions could wait for
 * each other.
 * Idempotent: yes; the second load of the same pages writes no row.
 *
 * Throws: PersonalDataMismatch; the errors of the database. A unique violation among them may be the
 * end of a run's first load: the transaction is to be done again, as transact does.
 */
export async function loadBatch(trx: DatabaseTransaction, input: LoadInput): Promise<LoadResult> {
  const { run, resource } = input;
  const touch = input.run === null && input.touch === true;
  const pages: readonly ReadPages[] = input.pages;
  const seen = sum(pages, ({ count }) => count);
  const statements = joinRows(pages.map(({ rows }) => rows));
  const isSmall = seen <= SMALL_LOAD_RECORDS && !hasTableTwice(statements);
  const isAlone = run !== null || !isSmall;
  const { treatment = PLAIN } = pages[0] ?? {};
  await lockForLoading(trx, { isAlone, runId: run?.id ?? null, treatment });
  const isApart = input.run !== null && input.isApart === true;
  const own: Upserted[] = [];
  const refused: NestedRejection[] = [];
  const valid = new Set<string>();
  for (const rows of statements) {
    const isOwn = rows.table === resource;
    // What is loaded page by page has little to gain, and often comes again: the head, a list that moves. And a record
    // that is on two pages of a batch is in the table when its second statement comes.
    const isRepeated = rows.ids.some((id) => valid.has(id));
    const isNew = isOwn && pages.length > 1 && !isRepeated && !isApart;
    const firstLoad = isNew && run?.firstLoad.isOn() ? run.firstLoad : null;
    const how = run !== null && isOwn ? 'numbered' : isAlone ? 'alone' : 'beside';
    // What has a list of its own is there again when that shows it. A program may go on naming a record that it no
    // longer has: it would be marked deleted and brought back by every sync.
    const revives = isOwn || !LISTED_RESOURCES.some((listed) => listed === rows.table);
    // An affiliate lists its links: a referral may go on naming one that is gone, or be another affiliate's by now.
    const keepsOwner = rows.table === 'links' && resource !== 'affiliates';
    const send = (some: EncodedRows) =>
      firstLoad === null
        ? upsertRows(trx, some, { how, touch: touch && isOwn, revives, keepsOwner })
        : insertNew(trx, firstLoad, some);
    const sent = isApart
      ? await sendApart(trx, rows, treatment, send)
      : { upserted: [await send(rows)], refused: [] };
    refused.push(...sent.refused);
    if (!isOwn) continue;
    own.push(...sent.upserted);
    const lacking = new Set(sent.refused.map(({ id }) => id));
    for (const id of rows.ids) if (!lacking.has(id)) valid.add(id);
  }
  // Of an affiliate that is on two pages, the later one says which links there are.
  const named = new Map(
    pages.flatMap(({ namedLinks }) => namedLinks.map((links) => [links.affiliateId, links])),
  );
  const unnamedLinks = await findUnnamedLinks(trx, [...named.values()]);
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

/** Whether two statements are about one table: two loads beside each other could then wait for each other. */
function hasTableTwice(statements: readonly EncodedRows[]): boolean {
  return new Set(statements.map(({ table }) => table)).size < statements.length;
}

function upsertRows(
  trx: DatabaseTransaction,
  rows: EncodedRows,
  { how, touch, revives, keepsOwner }: Pick<UpsertShape, 'how' | 'touch' | 'revives' | 'keepsOwner'>,
): Promise<Upserted> {
  const { table, places, extras } = rows;
  const shape = { table, places, hasExtra: extras !== null, how, touch, revives, keepsOwner };
  return sendRows(trx, upsertStatement(shape), rows);
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0);
}

/**
 * Waits for the right to load until the transaction ends, and names the run for the history that it writes. There is
 * one lock per schema: a large load runs alone, small ones beside each other. Whoever stores what it read names the
 * `treatment`, and nobody switches the mirror to another one meanwhile.
 *
 * Alone means: nothing else is loaded or marked deleted in this schema, so plain inserts are safe and no two loads can
 * deadlock. A process that was stopped while it holds the lock loses it after seconds. It is an advisory lock, since
 * locking the tables would also stop autovacuum. A row that somebody inserts by hand at the same time makes the load
 * fail on its key; tried again, it finds the row.
 *
 * Throws: PersonalDataMismatch where the mirror keeps personal data otherwise.
 */
export async function lockForLoading(
  trx: DatabaseTransaction,
  { isAlone, runId, treatment }: { isAlone: boolean; runId: number | null; treatment?: Treatment },
): Promise<void> {
  const answer = await sql<{ kept: string }>`
    select set_config('affiliate_mirror.run_id', ${runId === null ? '' : String(runId)}, true),
      lock_for_storing(${isAlone}) as kept
  `.execute(trx);
  const { kept } = onlyRow(answer, 'lock_for_storing');
  if (treatment !== undefined) refuseOtherMode(treatment.kept, kept);
}
