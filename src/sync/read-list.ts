// A page's way: it is fetched and decoded, a walk decides on its positions and identifiers how to go on, and its rows
// are loaded. A page is decoded as soon as it arrives, while Postgres loads the pages before it. Its records are then
// released: they take many times the memory of their rows.

import { inSpan } from '../base/span.ts';
import { positionOf } from '../contract/answer-bodies.ts';
import { type Filters, type ListedResource, RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { crawl } from '../crawl/crawl.ts';
import { type Checkpoint, NOTHING_LOADED, type Page, type PageRequest, type Walk } from '../crawl/page.ts';
import { prefixStart, walkPrefix } from '../crawl/prefix-walk.ts';
import { whyUnproven } from '../crawl/tally.ts';
import { type DecodedPage, decodePage } from '../decode/decode-page.ts';
import { areRowsOld } from '../mirror/runs/whole-runs.ts';
import { watchAnswer } from './answer-watch.ts';
import { type LoadPages, makeBatches } from './batches.ts';
import type { OpenRun } from './open-run.ts';

/** Does the steps of the walk, and returns how it ended, once every page is loaded. */
export async function followWalk<P extends Page, T>(
  walk: Walk<T>,
  { fetchPage, loadPages }: { fetchPage: (request: PageRequest) => Promise<P>; loadPages: LoadPages<P> },
): Promise<T> {
  const batches = makeBatches({ load: loadPages });
  let page: P | null = null;
  try {
    let step = walk.next();
    while (!step.done) {
      const { value } = step;
      if (value.kind === 'ask') {
        page = await fetchPage(value.request);
        step = walk.next(page);
      } else if (value.kind === 'load') {
        if (page !== null) await batches.push(page, value.checkpoint);
        step = walk.next(null);
      } else {
        step = walk.next((await batches.drain()) ?? NOTHING_LOADED);
      }
    }
    await batches.drain();
    return step.value;
  } catch (error) {
    // The pages before the one that failed are loaded all the same: their requests are spent, and the checkpoint stays
    // right. If loading fails as well, that is the error to throw: cached records count as loaded (nested-cache.ts).
    await batches.drain();
    throw error;
  }
}

/** A page with its decoded records. */
export interface RecordPage extends Page {
  readonly content: DecodedPage;
  readonly askedAt: Timestamp;
  /** The step that read it, for the trace. */
  readonly reference: string | null;
}

export interface ListInput<R extends ListedResource = ListedResource> {
  /** Narrows the list; left out: everything. */
  readonly filters?: Filters<R>;
  readonly loadPages: LoadPages<RecordPage>;
}

export interface ListRead<T> {
  /** How the walk ended. */
  readonly end: T;
  /** When the first request was granted its permit. */
  readonly beganAt: Timestamp | null;
  /** Pages that were asked for. */
  readonly pages: number;
}

/** Reads the run's list, or a part of it, as the walk decides; every record that was met is loaded. */
export async function readList<T>(
  reading: OpenRun,
  walk: Walk<T>,
  { loadPages, ...list }: ListInput,
): Promise<ListRead<T>> {
  let beganAt: Timestamp | null = null;
  let pages = 0;
  const fetchPage = async (request: PageRequest) => {
    pages += 1;
    const page = await fetchOne(reading, list, request);
    beganAt ??= page.askedAt;
    return page;
  };
  const end = await followWalk(walk, { fetchPage, loadPages });
  return { end, beganAt, pages };
}

function fetchOne(
  { api, db, run, resource, decoding, loader, signal }: OpenRun,
  { filters = {} }: Omit<ListInput, 'loadPages'>,
  request: PageRequest,
): Promise<RecordPage> {
  const attributes = { resource, page: request.page, limit: request.limit };
  return inSpan('page', { attributes }, async (span) => {
    // With all expansions, one walk fills as many tables as possible.
    const query = { ...request, filters, expand: RESOURCES[resource].expansions };
    const watch = watchAnswer(db, run);
    const { pagination, data, askedAt } = await api
      .list<ListedResource, DecodedPage>(resource, query, {
        beforeSend: watch.beforeSend,
        onRequest: (event) => {
          loader.countRequest();
          watch.onRequest(event);
        },
        decode: (bytes, observedAt) => decodePage(decoding, { bytes, observedAt }),
        ...(signal && { signal }),
      })
      .finally(watch.end);
    const content = 'rows' in data ? data : decodePage(decoding, [{ records: data, observedAt: askedAt }]);
    span.set({ rows: content.ids.length });
    return {
      ...positionOf(pagination),
      ids: content.ids,
      content,
      askedAt,
      reference: span.reference,
    };
  });
}

/**
 * Reads the filtered list, with a verdict of its own: `end` says why records may have been missed; null if none was.
 */
export async function readFiltered<R extends ListedResource>(
  reading: OpenRun,
  list: Required<Pick<ListInput<R>, 'filters'>>,
): Promise<ListRead<string | null>> {
  // The run's own count of distinct records cannot judge a part of the list.
  const seen = new Set<string>();
  const loadPages = async (pages: readonly RecordPage[]) => {
    await reading.loader.load(pages);
    const before = seen.size;
    for (const id of pages.flatMap(({ ids }) => ids)) if (id !== null) seen.add(id);
    return { distinct: seen.size, fresh: seen.size - before };
  };
  const walk = crawl({ limit: reading.limit, resumeFrom: null, head: 'when-moved' });
  const { end, ...read } = await readList(reading, walk, { ...list, loadPages });
  return { ...read, end: end.reason };
}

export interface Head {
  /** Records that exist, by the API's count. */
  readonly total: number;
  /** Why it came to no end, or proves nothing; null if it did and does. */
  readonly why: string | null;
  /** Pages that were asked for. */
  readonly pages: number;
  /** A walk of the whole list goes on from here; null if it has to begin anew. */
  readonly reached: Checkpoint | null;
}

/**
 * Reads the head of the list, which has the records that are new to the mirror, since the list is newest first. It is
 * walked as the whole list is, so that a record that is deleted meanwhile hides no other. It ends with a page of which
 * every record was first seen before the list was last read completely; if everything is to be read behind it
 * (`isKnown` false), with the first page. That a page's records are in the mirror does not end it: a run that was
 * stopped may have stored them without the records after them.
 */
export async function readHead(reading: OpenRun, { isKnown }: { isKnown: boolean }): Promise<Head> {
  const { db, resource, loader } = reading;
  const { end } = await readList(reading, walkPrefix(prefixStart(reading.limit), { untilEnough: true }), {
    async loadPages(pages) {
      const loaded = await loader.load(pages);
      const ids = pages.flatMap((page) => page.ids).filter((id) => id !== null);
      return { ...loaded, isEnough: !isKnown || (await areRowsOld(db, { resource, ids })) };
    },
  });
  const { checkpoint } = end;
  const { total, answers } = checkpoint.tally;
  const head = { total: total ?? 0, pages: answers };
  return end.how === 'complete'
    ? { ...head, why: whyUnproven(checkpoint.tally), reached: checkpoint }
    : { ...head, why: end.why, reached: null };
}
