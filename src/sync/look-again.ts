// Reads once more each place where a record would be that a walk did not meet: what is met is loaded, and no longer
// missing.

import type { ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import { overlapStart } from '../crawl/overlap-walk.ts';
import { ApiRejected } from '../errors.ts';
import { findFilters } from '../mirror/find-filters.ts';
import type { RecordPage } from './list-resource.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, WalkInput } from './walk.ts';
import { walkAside } from './walk-aside.ts';

/** Up to so many rows are looked for one by one; for more, a second walk is read: the exact one. */
export const HANDFUL = 10;

export interface LookInput extends Pick<WalkInput, 'limit' | 'signal'> {
  readonly resource: ListedResource;
  readonly loader: RunLoader;
}

/** Returns when the first of the requests was granted that show what is there; null where they settle nothing. */
export async function lookAgain(
  deps: SyncDeps,
  input: LookInput,
  ids: readonly string[],
): Promise<Timestamp | null> {
  const narrowest = ids.length <= HANDFUL ? await findFilters(deps.db, input.resource, ids) : null;
  if (narrowest === null) return readSecondWalk(input);
  let beganAt: Timestamp | null = null;
  try {
    for (const filters of narrowest) {
      const walked = await walkAside(input.loader, { resource: input.resource, filters }, input);
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

async function readSecondWalk({ resource, loader, limit, signal }: LookInput): Promise<Timestamp | null> {
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
    { limit, resumeFrom: overlapStart(limit), head: 'always', signal },
  );
  return verified ? beganAt : null;
}
