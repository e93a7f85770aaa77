// A model of the program's list as an array, newest first, that changes between any two answers.

import fc from 'fast-check';
import type { Checkpoint, Loaded, Page, PageRequest } from '../../src/crawl/page.ts';

export type Change =
  | { readonly kind: 'insert-at-head' | 'insert-tied-with-newest' }
  | { readonly kind: 'delete' | 'update' | 'insert-back-dated'; readonly at: number };

export interface ListCase {
  readonly size: number;
  readonly limit: number;
  readonly maximumLimit: number;
  /** Applied before the k-th answer, the last ones over and over for as long as `movingAnswers` says. */
  readonly changes: readonly (readonly Change[])[];
  readonly movingAnswers: number;
}

interface Row {
  readonly id: string;
  readonly createdAt: number;
  version: number;
}

/** Below this, short lists have positions that no page lies across (see overlap-walk.ts). */
const SMALLEST_LIMIT = 8;

const position = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const headChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Change>({ kind: 'insert-at-head' }) },
  { weight: 1, arbitrary: fc.constant<Change>({ kind: 'insert-tied-with-newest' }) },
  { weight: 5, arbitrary: position.map((at): Change => ({ kind: 'delete', at })) },
  { weight: 1, arbitrary: position.map((at): Change => ({ kind: 'update', at })) },
);
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: headChange },
  { weight: 1, arbitrary: position.map((at): Change => ({ kind: 'insert-back-dated', at })) },
);

/** Returns cases in which new rows come at the head only, or anywhere. */
export function listCases(insertions: 'at-head' | 'anywhere'): fc.Arbitrary<ListCase> {
  const change = insertions === 'at-head' ? headChange : anyChange;
  return fc.record({
    size: fc.integer({ min: 0, max: 120 }),
    limit: fc.integer({ min: SMALLEST_LIMIT, max: 20 }),
    maximumLimit: fc.integer({ min: SMALLEST_LIMIT, max: 20 }),
    changes: fc.array(fc.array(change, { maxLength: 3 }), { minLength: 1, maxLength: 30 }),
    movingAnswers: fc.integer({ min: 0, max: 120 }),
  });
}

export interface MovingList {
  readonly listPage: (request: PageRequest) => Promise<Page>;
  /** What a filtered list answers: whether the row is there. Takes its turn among the answers. */
  readonly find: (id: string) => Promise<boolean>;
  readonly load: (pages: readonly Page[], checkpoint: Checkpoint) => Promise<Loaded>;
  readonly seen: ReadonlySet<string>;
  readonly lastCheckpoint: () => Checkpoint | null;
  readonly answers: () => number;
  readonly did: ReadonlySet<Change['kind']>;
  /** Identifiers of the rows that were there all along and were never seen. */
  readonly missed: () => string[];
  readonly current: () => string[];
  /** No further change; what was seen is forgotten, as at the start of the next run. */
  readonly rest: () => void;
}

export function makeMovingList(given: ListCase): MovingList {
  const rows: Row[] = Array.from({ length: given.size }, (_, index) => ({
    id: `r${index}`,
    createdAt: -Math.floor(index / 2), // pairs of ties
    version: 0,
  }));
  let original = new Set(rows.map((row) => row.id));
  const seen = new Set<string>();
  const did = new Set<Change['kind']>();
  let created = 0;
  let answered = 0;
  let isMoving = true;
  let checkpoint: Checkpoint | null = null;

  function apply(change: Change): void {
    did.add(change.kind);
    const at = 'at' in change ? Math.floor(change.at * rows.length) : 0;
    const id = `n${created}`;
    switch (change.kind) {
      case 'insert-at-head':
        created += 1;
        rows.unshift({ id, createdAt: (rows[0]?.createdAt ?? 0) + 1, version: 0 });
        return;
      case 'insert-tied-with-newest':
        created += 1;
        rows.splice(Math.min(1, rows.length), 0, { id, createdAt: rows[0]?.createdAt ?? 0, version: 0 });
        return;
      case 'insert-back-dated':
        created += 1;
        rows.splice(at, 0, { id, createdAt: rows[at]?.createdAt ?? 0, version: 0 });
        return;
      case 'delete':
        rows.splice(at, 1);
        return;
      case 'update': {
        const row = rows[at];
        if (row !== undefined) row.version += 1;
      }
    }
  }

  function move(): void {
    if (isMoving && answered > 0 && answered < given.movingAnswers) {
      for (const change of given.changes[(answered - 1) % given.changes.length] ?? []) apply(change);
    }
    answered += 1;
  }

  function answer(request: PageRequest): Page {
    move();
    const limit = Math.min(request.limit, given.maximumLimit);
    const start = (request.page - 1) * limit;
    return {
      start,
      limit,
      total: rows.length,
      isLast: start + limit >= rows.length,
      ids: rows.slice(start, start + limit).map((row) => row.id),
    };
  }

  return {
    listPage: async (request) => answer(request),
    find: async (id) => {
      move();
      return rows.some((row) => row.id === id);
    },
    load: async (pages, after) => {
      const before = seen.size;
      for (const page of pages) for (const id of page.ids) if (id !== null) seen.add(id);
      checkpoint = after;
      return { distinct: seen.size, fresh: seen.size - before };
    },
    seen,
    lastCheckpoint: () => checkpoint,
    answers: () => answered,
    did,
    missed: () => rows.filter((row) => original.has(row.id) && !seen.has(row.id)).map((row) => row.id),
    current: () => rows.map((row) => row.id),
    rest: () => {
      isMoving = false;
      original = new Set(rows.map((row) => row.id));
      seen.clear();
    },
  };
}
