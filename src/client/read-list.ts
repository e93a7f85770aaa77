// A whole list as an async iterator: asks for the next page only when its reader is out of records, yields each record
// once, and ends only where the walk has shown that none is missing. The walks are those of src/crawl.
//
// An unfiltered list is read by the prefix walk and judged by its count, as a sync does it. Into and out of a filtered
// list records come and go at any place, when they begin or cease to match: it is read by the overlap walk, which
// does not mind, and its count is held against it only where it stood still.

import type { ApiClient } from '../api/client.ts';
import type { ListQuery } from '../api/request-parameters.ts';
import { MAXIMUM_LIMIT, positionOf } from '../contract/answer-bodies.ts';
import { type ListedResource, RESOURCES } from '../contract/resources.ts';
import { crawl } from '../crawl/crawl.ts';
import type { Loader } from '../crawl/loader.ts';
import { overlapStart, walkOverlap } from '../crawl/overlap-walk.ts';
import type { Loaded, Page, PageRequest } from '../crawl/page.ts';
import { OUTRUN, whyUnproven } from '../crawl/tally.ts';
import { ContractViolation, ListUnverified } from '../errors.ts';
import { usableId } from '../records/read-record.ts';
import { describeIssues } from '../records/rejection-reason.ts';
import type { InvalidRecord, ListOptions, RecordOf } from './types.ts';

interface RecordPage extends Page {
  readonly records: readonly unknown[];
}

/**
 * Yields every record of the list once, as `Lists.list` promises it.
 *
 * Throws: what the requests throw; ContractViolation on an invalid record without `onInvalid`; ListUnverified at the
 * end; the signal's reason when aborted.
 */
export async function* readList<R extends ListedResource>(
  api: ApiClient,
  resource: R,
  query: Pick<ListQuery<R>, 'filters' | 'expand'>,
  { signal, onInvalid }: ListOptions,
): AsyncGenerator<RecordOf<R>, void, undefined> {
  const stop = new AbortController();
  const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const met = new Set<string>();
  let waiting: unknown[] = [];
  let isOver = false;
  /** Resolves when the reader is out of records: only then is a page asked for. */
  let wanted = Promise.withResolvers<void>();
  /** Resolves when there are records, or there will be none. */
  let served = Promise.withResolvers<void>();

  async function listPage(request: PageRequest): Promise<RecordPage> {
    await wanted.promise;
    const options = { signal: stopped, takesStored: true };
    const { pagination, data, ageMs } = await api.list(resource, { ...request, ...query }, options);
    return {
      ...positionOf(pagination),
      ids: data.map(usableId),
      records: data,
      ageMs,
    };
  }

  function take({ ids, records }: RecordPage): Loaded {
    const before = met.size;
    // A record without an identifier that can be used cannot be distinguished from another; it is invalid, and is
    // reported.
    const fresh = records.filter((_, index) => {
      const id = ids[index] ?? null;
      if (id === null) return true;
      const isFresh = !met.has(id);
      met.add(id);
      return isFresh;
    });
    if (fresh.length > 0) {
      waiting = fresh;
      wanted = Promise.withResolvers();
      served.resolve();
    }
    return { distinct: met.size, fresh: met.size - before };
  }

  const isFiltered = Object.keys(query.filters ?? {}).length > 0;
  const walk = isFiltered ? walkFiltered : walkWhole;
  const doubt = walk({ listPage, take }, stopped).finally(() => {
    isOver = true;
    served.resolve();
  });
  // Awaited below, once the records before it are yielded.
  doubt.catch(() => undefined);

  try {
    while (!isOver || waiting.length > 0) {
      const records = waiting;
      waiting = [];
      for (const record of records) {
        signal?.throwIfAborted();
        const checked = checkRecord(resource, record);
        if ('record' in checked) yield checked.record;
        else if (onInvalid === undefined) throw invalidRecord(resource, checked.invalid);
        else onInvalid(checked.invalid);
      }
      if (isOver) continue;
      served = Promise.withResolvers();
      wanted.resolve();
      await served.promise;
    }
    const reason = await doubt;
    if (reason !== null) throw new ListUnverified(`the list of ${resource} may lack records: ${reason}`);
  } finally {
    stop.abort();
    wanted.resolve();
    await doubt.catch(() => undefined);
  }
}

interface Reading {
  readonly listPage: (request: PageRequest) => Promise<RecordPage>;
  /** Passes the page's records on to the reader; called once for each page, in order. */
  readonly take: (page: RecordPage) => Loaded;
}

const NOTHING: Loaded = { distinct: 0, fresh: 0 };

/** Returns why records may be missing, once the list is read; null where none can be. */
async function walkWhole({ listPage, take }: Reading, signal: AbortSignal): Promise<string | null> {
  const taken = new Map<RecordPage, Loaded>();
  const verdict = await crawl<RecordPage>(
    {
      // At once: the load would first gather a batch.
      listPage: async (request) => {
        const page = await listPage(request);
        taken.set(page, take(page));
        return page;
      },
      load: async (pages) => {
        const loads = pages.map((page) => taken.get(page) ?? NOTHING);
        for (const page of pages) taken.delete(page);
        return {
          ...(loads.at(-1) ?? NOTHING),
          fresh: loads.reduce((sum, { fresh }) => sum + fresh, 0),
        };
      },
    },
    { limit: MAXIMUM_LIMIT, resumeFrom: null, head: 'when-moved', signal },
  );
  return verdict.reason;
}

/** Returns the same for a list in which records come and go at any place. */
async function walkFiltered({ listPage, take }: Reading, signal: AbortSignal): Promise<string | null> {
  let loaded: Loaded | null = null;
  const loader: Loader<RecordPage> = {
    async push(page) {
      loaded = take(page);
    },
    drain: async () => loaded,
  };
  const walk = await walkOverlap({ listPage, loader }, overlapStart(MAXIMUM_LIMIT), { signal });
  if (walk.how === 'ended') return walk.why;
  if (walk.how === 'outrun') return OUTRUN;
  const why = whyUnproven(walk.checkpoint.tally);
  if (why !== null) return why;
  const { total, moved } = walk.checkpoint.tally;
  const { distinct } = (await loader.drain()) ?? NOTHING;
  if (moved || distinct >= (total ?? 0)) return null;
  return `${distinct} different records were seen, where the program says that it has ${total}`;
}

/** Returns the record, checked, or what is wrong with it. */
export function checkRecord<R extends ListedResource>(
  resource: R,
  record: unknown,
): { record: RecordOf<R> } | { invalid: InvalidRecord } {
  const parsed = RESOURCES[resource].schema.safeParse(record);
  if (parsed.success) return { record: parsed.data as RecordOf<R> };
  return {
    invalid: { id: usableId(record), reason: describeIssues(parsed.error.issues, record, ''), record },
  };
}

/** Returns the error for a record that nobody wants to go on without. */
export function invalidRecord(resource: ListedResource, { id, reason }: InvalidRecord): ContractViolation {
  const which = id === null ? 'a record' : `the record ${id}`;
  return new ContractViolation(`${which} of ${resource} is not what the contract says: ${reason}`);
}
