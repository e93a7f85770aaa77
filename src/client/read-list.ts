// A whole list as an async iterator: requests the next page only when its reader is out of records, yields each record
// once, and ends without an error only if the walk has shown that none is missing. The walks are those of src/crawl.
//
// An unfiltered list is read by the prefix walk and checked by its count, as by a sync. Records enter and leave a
// filtered list at any place, when they begin or cease to match. Therefore it is read by the overlap walk, and its
// count is checked only if the total did not change.

import type { ApiClient } from '../api/client.ts';
import type { ListQuery } from '../api/request-parameters.ts';
import { ContractViolation, ListUnverified } from '../base/errors.ts';
import { MAXIMUM_LIMIT, positionOf } from '../contract/answer-bodies.ts';
import { type ListedResource, RESOURCES } from '../contract/resources.ts';
import { crawl } from '../crawl/crawl.ts';
import { overlapStart, walkOverlap } from '../crawl/overlap-walk.ts';
import { type Loaded, NOTHING_LOADED, settle, type Walk } from '../crawl/page.ts';
import { OUTRUN, whyUnproven } from '../crawl/tally.ts';
import { usableId } from '../decode/plain-reader.ts';
import { describeIssues } from '../decode/rejection-reason.ts';
import type { InvalidRecord, ListOptions, RecordOf } from './types.ts';

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
  const options = signal && { signal };
  const met = new Set<string>();
  let records: readonly unknown[] = [];
  let loaded: Loaded = NOTHING_LOADED;
  const isFiltered = Object.keys(query.filters ?? {}).length > 0;
  const walk = isFiltered ? walkFiltered() : walkWhole();
  let step = walk.next();
  while (!step.done) {
    const { value } = step;
    if (value.kind === 'ask') {
      const { pagination, data } = await api.list(resource, { ...value.request, ...query }, options);
      records = data;
      step = walk.next({ ...positionOf(pagination), ids: data.map(usableId) });
    } else if (value.kind === 'load') {
      const before = met.size;
      for (const record of records) {
        const id = usableId(record);
        // Nothing tells one without an identifier from another; it is invalid, and is reported.
        if (id !== null && met.has(id)) continue;
        if (id !== null) met.add(id);
        signal?.throwIfAborted();
        const checked = checkRecord(resource, record);
        if ('record' in checked) yield checked.record;
        else if (onInvalid === undefined) throw invalidRecord(resource, checked.invalid);
        else onInvalid(checked.invalid);
      }
      loaded = { distinct: met.size, fresh: met.size - before };
      step = walk.next(null);
    } else {
      step = walk.next(loaded);
    }
  }
  const reason = step.value;
  if (reason !== null) throw new ListUnverified(`the list of ${resource} may lack records: ${reason}`);
}

/** Ends with the reason why records may be missing; null if none can be. */
function* walkWhole(): Walk<string | null> {
  const { reason } = yield* crawl({ limit: MAXIMUM_LIMIT, resumeFrom: null, head: 'when-moved' });
  return reason;
}

/** As walkWhole, for a list that records enter and leave at any place. */
function* walkFiltered(): Walk<string | null> {
  const walk = yield* walkOverlap(overlapStart(MAXIMUM_LIMIT));
  if (walk.how === 'ended') return walk.why;
  if (walk.how === 'outrun') return OUTRUN;
  const { tally } = walk.checkpoint;
  const why = whyUnproven(tally);
  if (why !== null) return why;
  const { distinct } = yield* settle();
  if (tally.moved || distinct >= (tally.total ?? 0)) return null;
  return `${distinct} different records were seen, but the API says that it has ${tally.total}`;
}

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

export function invalidRecord(resource: ListedResource, { id, reason }: InvalidRecord): ContractViolation {
  const which = id === null ? 'a record' : `the record ${id}`;
  return new ContractViolation(`${which} of ${resource} is not what the contract says: ${reason}`);
}
