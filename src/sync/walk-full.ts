// A full run: reads every page of the list, and then decides about the rows that were not met.

import type { ListedResource } from '../contract/resources.ts';
import { crawl } from '../crawl/crawl.ts';
import type { Checkpoint } from '../crawl/page.ts';
import type { RunLoader } from './run-loader.ts';
import { settleMissing } from './settle-missing.ts';
import { type SyncDeps, unverified, type Walked, type WalkInput } from './walk.ts';

/**
 * Returns how the walk of the whole list ended. Only where it is verified may rows be gone.
 *
 * `head: 'when-moved'` saves the last request where the list did not move during the walk. `from` is where a run that
 * has no checkpoint begins: its first pages have been read and loaded.
 */
export async function walkFull(
  deps: SyncDeps,
  loader: RunLoader,
  input: WalkInput & {
    resource: ListedResource;
    head: 'always' | 'when-moved';
    from: Checkpoint | null;
  },
): Promise<Walked> {
  const { run, resource, signal } = input;
  const verdict = await crawl(
    { listPage: loader.lister(resource), load: loader.load },
    {
      limit: input.limit,
      resumeFrom: readCheckpoint(run.checkpoint) ?? input.from,
      head: input.head,
      signal,
    },
  );
  deps.log.info({ run_id: run.id, resource, ...verdict }, 'crawl.judged');
  const doubt = verdict.reason ?? input.doubt;
  if (doubt !== null) return unverified(doubt);
  return { doubt: null, missing: await settleMissing(deps, { ...input, loader }) };
}

function readCheckpoint(stored: object | null): Checkpoint | null {
  // Written by affiliate-mirror, in the transaction of the batch before it; the schema's version guards its shape.
  return stored as Checkpoint | null;
}
