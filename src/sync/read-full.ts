// Reads every page of the list, and decides which rows that a verified walk did not meet are gone. Marks nothing
// itself.
//
// Missing is not deleted: each place of such a record is read once more, and only a record that is missing there too is
// gone. Too many at once are held back: a mistake of the API is more likely than so many deletions. A commission or a
// payout is held back as well if the API still answers for it at its own address, but unreadably. Those that are not
// found there do not count as too many, nor do referrals of an affiliate that is gone, nor deletions that a user
// accepted.

import { ApiRejected } from '../base/errors.ts';
import { counted } from '../contract/format.ts';
import { isSingle, type ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type CrawlOptions, crawl } from '../crawl/crawl.ts';
import { overlapStart } from '../crawl/overlap-walk.ts';
import type { Checkpoint } from '../crawl/page.ts';
import { findFilters, findMissing, findOfGoneAffiliates, type Missing } from '../mirror/find-missing.ts';
import { readAccepted } from '../mirror/held-back.ts';
import type { OpenRun, ReadOutcome, SettledMissing } from './open-run.ts';
import { type ReadById, readById } from './read-by-id.ts';
import { readFiltered, readList } from './read-list.ts';

/**
 * If more rows than this, and more than the share, are missing at once and no user confirms it, they are held back.
 */
const PLAUSIBLE_ROWS = 10;
const PLAUSIBLE_SHARE = 0.02;
/** Up to so many rows are looked for one by one; for more, a second, exact walk is read. */
const HANDFUL = 10;

/**
 * Returns how the walk of the whole list ended. Only if it is verified may rows be gone.
 *
 * `head: 'when-moved'` saves the last request if the list did not move during the walk. `from` is where a run that
 * has no checkpoint begins: its first pages have been read and loaded.
 */
export async function readFull(
  reading: OpenRun,
  { head, from }: { head: CrawlOptions['head']; from: Checkpoint | null },
): Promise<ReadOutcome> {
  const { run, resource } = reading;
  // Written by the batch before it, in its transaction; the version of the schema guards its shape.
  const resumeFrom = (run.checkpoint as Checkpoint | null) ?? from;
  const { verdict } = await readWhole(reading, { resumeFrom, head });
  reading.log.info({ run_id: run.id, resource, ...verdict }, 'crawl.judged');
  const doubt = verdict.reason ?? reading.doubt;
  return { doubt, missing: doubt === null ? await settleMissing(reading) : null };
}

async function readWhole(reading: OpenRun, options: Omit<CrawlOptions, 'limit'>) {
  const { loader, limit } = reading;
  const { end, beganAt } = await readList(reading, crawl({ limit, ...options }), {
    loadPages: (pages, checkpoint) => loader.load(pages, { checkpoint, total: pages.at(-1)?.total ?? null }),
  });
  return { verdict: end, beganAt };
}

/** Returns the rows that are gone, and those that are held back. To be called after a verified walk only. */
async function settleMissing(reading: OpenRun): Promise<SettledMissing> {
  const { run, resource, loader } = reading;
  const find = () => findMissing(reading.db, { runId: run.id, resource, seen: loader.seen });
  const missing = await find();
  if (missing.ids.length === 0) return { gone: null, heldBack: null, isWhole: true };

  const { gone: confirmed, unreadable } = await confirm(reading, missing);
  // A record that was asked for and is there was met by that.
  const unmet = isSingle(resource) ? await find() : missing;
  const doubted = new Set(unmet.ids).difference(new Set(confirmed?.ids));
  const undecided = await findUndecided(reading, { doubted, unreadable, living: missing.living });
  const toRead = doubted.difference(undecided.ids);
  const readAt = toRead.size === 0 ? null : await readOnceMore(reading, [...toRead]);
  const whyUnread = toRead.size === 0 || readAt !== null ? null : UNREAD;

  // A row that was met meanwhile is no longer missing. Rows that a failed second walk did not reach are held back.
  const still = await find();
  const stillOf = (...ids: Iterable<string>[]) => {
    const these = new Set(ids.flatMap((some) => [...some]));
    return still.ids.filter((id) => these.has(id));
  };
  const observedAt = confirmed?.observedAt ?? readAt;
  const gone = stillOf(confirmed?.ids ?? [], whyUnread === null ? toRead : []);
  const held = stillOf(undecided.ids, whyUnread === null ? [] : toRead);
  const why = undecided.areTooMany ? tooManyOf(resource) : (whyUnread ?? unreadableOf(resource));
  const reason = `${counted(held.length, 'deletion')} held back: ${why}`;
  return {
    gone: observedAt === null || gone.length === 0 ? null : { ids: gone, observedAt },
    heldBack: held.length === 0 ? null : { ids: held, reason },
    isWhole: true,
  };
}

/** Returns the records that the API says are gone at their own address, and those that it answers there unreadably. */
async function confirm(
  reading: OpenRun,
  { ids, living }: Missing,
): Promise<Pick<ReadById, 'gone' | 'unreadable'>> {
  const { resource } = reading;
  if (!isSingle(resource)) return { gone: null, unreadable: [] };
  // As many as a second walk has pages; the others are treated like any other row.
  return readById(reading, resource, ids.slice(0, Math.max(HANDFUL, Math.ceil(living / reading.limit))));
}

interface Doubted {
  readonly doubted: ReadonlySet<string>;
  readonly unreadable: readonly string[];
  readonly living: number;
}

/** Returns the rows that are held back without being read once more, and whether their number is the reason. */
async function findUndecided(
  { db, resource, acceptDeletes }: OpenRun,
  { doubted, unreadable, living }: Doubted,
): Promise<{ ids: ReadonlySet<string>; areTooMany: boolean }> {
  const expected = resource === 'referrals' ? await findOfGoneAffiliates(db, [...doubted]) : new Set();
  const accepted = acceptDeletes ? doubted : await readAccepted(db, resource);
  const unaccepted = doubted.difference(accepted).difference(expected);
  const plausible = Math.max(PLAUSIBLE_ROWS, Math.floor(living * PLAUSIBLE_SHARE));
  const areTooMany = unaccepted.size > plausible;
  return { ids: areTooMany ? unaccepted : unaccepted.intersection(new Set(unreadable)), areTooMany };
}

/**
 * Reads once more each place where one of the records would be: a record that is met is loaded, and no longer missing.
 * Returns when the first of these requests was granted; null if they settle nothing.
 */
async function readOnceMore(reading: OpenRun, ids: readonly string[]): Promise<Timestamp | null> {
  const narrowest = ids.length <= HANDFUL ? await findFilters(reading.db, reading.resource, ids) : null;
  if (narrowest === null) return readSecondWalk(reading);
  let first: Timestamp | null = null;
  try {
    for (const filters of narrowest) {
      const { end: doubt, beganAt } = await readFiltered(reading, { filters });
      if (doubt !== null) return null;
      first ??= beganAt;
    }
  } catch (error) {
    // An API may refuse to list the records of an affiliate that it no longer has.
    if (error instanceof ApiRejected) return readSecondWalk(reading);
    throw error;
  }
  return first;
}

async function readSecondWalk(reading: OpenRun): Promise<Timestamp | null> {
  await reading.loader.restart();
  const resumeFrom = overlapStart(reading.limit);
  const { verdict, beganAt } = await readWhole(reading, { resumeFrom, head: 'always' });
  return verdict.verified ? beganAt : null;
}

const UNREAD = 'they could not be looked for once more: the next sync tries again';

function unreadableOf(resource: ListedResource): string {
  return (
    'the API answers for each of them by itself, with something that cannot be read; if they are really gone, run ' +
    `"affiliate-mirror deletions accept ${resource}"`
  );
}

function tooManyOf(resource: ListedResource): string {
  return (
    `more than ${PLAUSIBLE_ROWS} and more than ${PLAUSIBLE_SHARE * 100} % of the table are missing at once; see ` +
    `"affiliate-mirror deletions list ${resource}", and if they are really gone, run ` +
    `"affiliate-mirror deletions accept ${resource}"`
  );
}
