// Decides what becomes of rows that a verified walk did not meet. Missing is not deleted: each place where such a
// record would be is read once more, and only what is missing there too is gone. Marks nothing itself.

import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import { overlapStart } from '../crawl/overlap-walk.ts';
import { findWhereabouts } from '../mirror/find-whereabouts.ts';
import { findMissing } from '../mirror/tombstones.ts';
import { makeListPage, type RecordPage } from './list-resource.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, Walked, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';

/**
 * Where more rows than this, and more than the share, are missing at once, `acceptDeletes` must say that it is right.
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
 * Returns the rows that are gone, and how many were held back: too many at once (unless `acceptDeletes`), or not to be
 * distinguished from a record that was rejected without a usable identifier.
 *
 * To be called after a verified walk only.
 */
export async function settleMissing(
  deps: SyncDeps,
  input: SettleInput,
): Promise<Pick<Walked, 'gone' | 'heldBack'>> {
  const { db, log } = deps;
  const { run, resource, loader, acceptDeletes } = input;
  const { seen } = loader;
  const missing = await findMissing(db, { runId: run.id, resource, seen });
  const { length: count } = missing.ids;
  if (count === 0) return { gone: null, heldBack: 0 };
  const plausible = Math.max(PLAUSIBLE_ROWS, Math.floor(missing.living * PLAUSIBLE_SHARE));
  if (loader.hasAnonymous() || (count > plausible && !acceptDeletes)) {
    log.warn({ run_id: run.id, resource, missing: count, plausible }, 'sync.deletes_held_back');
    return { gone: null, heldBack: count };
  }
  const observedAt =
    count <= HANDFUL ? await readWhereabouts(deps, input, missing.ids) : await readSecondWalk(deps, input);
  if (observedAt === null) return { gone: null, heldBack: count };
  const still = await findMissing(db, { runId: run.id, resource, seen });
  const before = new Set(missing.ids);
  const ids = still.ids.filter((id) => before.has(id));
  return { gone: ids.length === 0 ? null : { ids, observedAt }, heldBack: 0 };
}

/** Returns when the reading began; null where it settles nothing. What is met is loaded, and no longer missing. */
async function readWhereabouts(
  deps: SyncDeps,
  input: SettleInput,
  ids: readonly string[],
): Promise<Timestamp | null> {
  const { resource, loader } = input;
  const whereabouts = await findWhereabouts(deps.db, resource, ids);
  if (whereabouts === null) return readSecondWalk(deps, input);
  let beganAt: Timestamp | null = null;
  for (const filters of whereabouts) {
    const walked = await walkAside(deps, loader, { resource, filters }, input);
    if (walked.doubt !== null) return null;
    beganAt ??= walked.beganAt;
  }
  return beganAt;
}

async function readSecondWalk({ api }: SyncDeps, input: SettleInput): Promise<Timestamp | null> {
  const { resource, loader, limit, signal } = input;
  await loader.readAgain();
  const listPage = makeListPage({ api, onRequest: loader.countRequest, readPage: loader.readPage }, resource);
  let beganAt: Timestamp | null = null;
  const { verified } = await crawl<RecordPage>(
    {
      listPage: async (request, stop) => {
        const page = await listPage(request, stop);
        beganAt ??= page.askedAt;
        return page;
      },
      accept: loader.accept,
      load: loader.load,
    },
    { limit, concurrency: 1, resumeFrom: overlapStart(limit), head: 'always', signal },
  );
  return verified ? beganAt : null;
}
