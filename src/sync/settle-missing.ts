// Decides what becomes of rows that a verified walk did not meet. Missing is not deleted: each place where such a
// record would be is read once more, and only what is missing there too is gone. Too many at once are held back: they
// are more likely a mistake of the program's than deletions. Held back as well are commissions for which the program
// still has an answer at their own address, but none that can be read. What the program itself confirms, by its filter
// or by a commission's own address, does not count as too many, nor what somebody accepted. Marks nothing itself.

import { counted } from '../contract/format.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import { overlapStart } from '../crawl/overlap-walk.ts';
import { ApiRejected } from '../errors.ts';
import { findFilters } from '../mirror/find-filters.ts';
import { readAccepted } from '../mirror/held-back.ts';
import { findMissing } from '../mirror/mark-deleted.ts';
import { type Confirmed, confirmGoneReferrals, NOTHING } from './confirm-gone.ts';
import type { RecordPage } from './list-resource.ts';
import { readById } from './read-by-id.ts';
import type { RunLoader } from './run-loader.ts';
import type { HeldBack, SettledMissing, SyncDeps, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';

/**
 * Where more rows than this, and more than the share, are missing at once and nobody confirms it, they are held back.
 */
const PLAUSIBLE_ROWS = 10;
const PLAUSIBLE_SHARE = 0.02;
/** Up to so many rows are looked for one by one; for more, a second walk is read: the exact one. */
const HANDFUL = 10;

interface SettleInput extends Omit<WalkInput, 'concurrency' | 'doubt'> {
  readonly resource: ListedResource;
  readonly loader: RunLoader;
}

/**
 * Returns the rows that are gone, and those that are held back: too many at once that nobody confirmed (unless
 * `acceptDeletes`), not to be distinguished from a record that was rejected without a usable identifier, or not to be
 * looked for once more.
 *
 * To be called after a verified walk only.
 */
export async function settleMissing(deps: SyncDeps, input: SettleInput): Promise<SettledMissing> {
  const { db } = deps;
  const { run, resource, loader, acceptDeletes } = input;
  const find = () => findMissing(db, { runId: run.id, resource, seen: loader.seen });
  const { ids: missing, living } = await find();
  if (missing.length === 0) return { gone: null, heldBack: null, isWhole: true };
  if (loader.hasAnonymous()) return { gone: null, heldBack: holdBack(missing, ANONYMOUS), isWhole: true };
  const { confirmed, unreadable } = await confirmInBulk(deps, input, { ids: missing, living });
  // A commission that was asked for and is there was met by that.
  const unmet = resource === 'commissions' ? (await find()).ids : missing;
  const doubted = withoutThese(unmet, confirmed.ids);
  const accepted = acceptDeletes ? doubted : await readAccepted(db, resource);
  const unaccepted = withoutThese(doubted, accepted);
  const plausible = Math.max(PLAUSIBLE_ROWS, Math.floor(living * PLAUSIBLE_SHARE));
  const isTooMany = unaccepted.length > plausible;
  const undecided = isTooMany ? unaccepted : inBoth(unaccepted, unreadable);
  const toRead = withoutThese(doubted, undecided);
  const readAt = toRead.length === 0 ? null : await lookAgain(deps, input, toRead);
  // What is read now may be rejected like anything else, and then be any of them.
  const isAnonymous = loader.hasAnonymous();
  const unread = readAt === null || isAnonymous ? toRead : [];
  // What was met meanwhile is no longer missing. After a second walk that failed, what it did not reach is: but it is
  // held back.
  const { ids: still } = await find();
  const stillOf = (ids: readonly string[]) => inBoth(still, ids);
  const gone = stillOf([...confirmed.ids, ...withoutThese(toRead, unread)]);
  const observedAt = confirmed.observedAt ?? readAt;
  const held = stillOf([...undecided, ...unread]);
  const whyUnread = isAnonymous ? ANONYMOUS : UNREAD;
  const why = isTooMany ? tooManyOf(resource) : unread.length > 0 ? whyUnread : UNREADABLE;
  return {
    gone: observedAt === null || gone.length === 0 ? null : { ids: gone, observedAt },
    heldBack: held.length === 0 ? null : holdBack(held, why),
    isWhole: true,
  };
}

const ANONYMOUS =
  'a record was rejected that has no usable identifier, and may be any of them: see the table rejected_records';
const UNREAD = 'they could not be looked for once more: the next sync tries again';
const UNREADABLE =
  'the program answers for each of them by itself, with something that cannot be read; if they are really gone, run ' +
  '"affiliate-mirror deletions accept commissions"';

function tooManyOf(resource: ListedResource): string {
  return (
    `more than ${PLAUSIBLE_ROWS} and more than ${PLAUSIBLE_SHARE * 100} % of the table are missing at once; see ` +
    `"affiliate-mirror deletions list ${resource}", and if they are really gone, run ` +
    `"affiliate-mirror deletions accept ${resource}"`
  );
}

function holdBack(ids: readonly string[], why: string): HeldBack {
  return { ids, reason: `${counted(ids.length, 'deletion')} held back: ${why}` };
}

async function confirmInBulk(
  deps: SyncDeps,
  input: SettleInput,
  missing: { ids: readonly string[]; living: number },
): Promise<{ confirmed: Confirmed; unreadable: readonly string[] }> {
  if (input.resource === 'commissions') {
    // As many as a second walk has pages; what is more is treated like any other row.
    const most = Math.max(HANDFUL, Math.ceil(missing.living / input.limit));
    const { gone, unreadable } = await readById(deps, input, missing.ids.slice(0, most));
    return { confirmed: gone ?? NOTHING, unreadable };
  }
  const isBulk = input.resource === 'referrals' && missing.ids.length > HANDFUL;
  return { confirmed: isBulk ? await confirmGoneReferrals(deps, input, missing) : NOTHING, unreadable: [] };
}

/** Returns when the first of the requests was granted that show what is there; null where they settle nothing. */
async function lookAgain(
  deps: SyncDeps,
  input: SettleInput,
  ids: readonly string[],
): Promise<Timestamp | null> {
  return ids.length <= HANDFUL ? readUnderFilters(deps, input, ids) : readSecondWalk(input);
}

function withoutThese(ids: readonly string[], these: Iterable<string>): readonly string[] {
  const left = new Set(these);
  return left.size === 0 ? ids : ids.filter((id) => !left.has(id));
}

function inBoth(ids: readonly string[], others: readonly string[]): readonly string[] {
  const both = new Set(others);
  return ids.filter((id) => both.has(id));
}

/** Returns when the reading began; null where it settles nothing. What is met is loaded, and no longer missing. */
async function readUnderFilters(
  deps: SyncDeps,
  input: SettleInput,
  ids: readonly string[],
): Promise<Timestamp | null> {
  const { resource, loader } = input;
  const narrowest = await findFilters(deps.db, resource, ids);
  if (narrowest === null) return readSecondWalk(input);
  let beganAt: Timestamp | null = null;
  try {
    for (const filters of narrowest) {
      const walked = await walkAside(loader, { resource, filters }, input);
      if (walked.doubt !== null) return null;
      beganAt ??= walked.beganAt;
    }
  } catch (error) {
    // A program may refuse to list what belongs to something that it no longer has.
    if (error instanceof ApiRejected) return readSecondWalk(input);
    throw error;
  }
  return beganAt;
}

async function readSecondWalk(input: SettleInput): Promise<Timestamp | null> {
  const { resource, loader, limit, signal } = input;
  await loader.readAgain();
  const listPage = loader.lister(resource);
  let beganAt: Timestamp | null = null;
  const { verified } = await crawl<RecordPage>(
    {
      listPage: async (request, stop) => {
        const page = await listPage(request, stop);
        beganAt ??= page.askedAt;
        return page;
      },
      load: loader.load,
    },
    { limit, concurrency: 1, resumeFrom: overlapStart(limit), head: 'always', signal },
  );
  return verified ? beganAt : null;
}
