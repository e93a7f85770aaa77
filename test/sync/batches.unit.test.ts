// The buffer between reading and loading: what it holds, in which order it loads them, and how it ends.

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Checkpoint, Page } from '../../src/crawl/page.ts';
import { prefixStart } from '../../src/crawl/prefix-walk.ts';
import { makeBatches } from '../../src/sync/batches.ts';
import { sized } from '../support/sizes.ts';

const BATCH_PAGES = 40;
const GATHER_MS = 1000;
/** Microtasks; far more than anything here takes that waits for nothing else. */
const TURNS = 50;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** Everything that was to happen without any timer has happened. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await null;
}

function pageAt(start: number): Page {
  return { start, limit: 1, total: 1000, isLast: false, ids: [`r${start}`] };
}

function checkpointAt(start: number): Checkpoint {
  return { ...prefixStart(1), covered: start + 1 };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

test('a batch is gathered for a moment, and is what came until then', async () => {
  const batches: unknown[] = [];
  const loader = makeBatches<Page>({
    load: async (pages, checkpoint) => {
      batches.push({ starts: pages.map(({ start }) => start), checkpoint });
      return { distinct: pages.length, fresh: pages.length };
    },
  });
  await loader.push(pageAt(0), checkpointAt(0));
  vi.advanceTimersByTime(GATHER_MS - 1);
  await loader.push(pageAt(1), checkpointAt(1));
  await settle();
  expect(batches).toEqual([]);
  vi.advanceTimersByTime(1);
  await settle();
  expect(batches).toEqual([{ starts: [0, 1], checkpoint: checkpointAt(1) }]);
});

/** What the walk and the database do, each taking its time: microtasks, since nothing else orders them. */
const STEPS_PLAYED = sized(100, 500);

const step = fc.oneof(
  { weight: 40, arbitrary: fc.record({ kind: fc.constant('push' as const), turns: fc.nat({ max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.nat({ max: 2 * GATHER_MS }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain' as const) }) },
);

test('every page is loaded once and in order, one batch at a time, whatever takes how long', async () => {
  let batches = 0;
  let full = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 60, maxLength: 400, size: 'max' }),
      fc.array(fc.nat({ max: 60 }), { minLength: 1 }),
      fc.option(fc.nat({ max: 6 }), { freq: 1 }),
      async (steps, loadTurns, failsAt) => {
        const broken = new Error('broken');
        const passed: number[] = [];
        let pushed = 0;
        let loads = 0;
        let isLoading = false;
        let done = 0;
        const loader = makeBatches<Page>({
          load: async (pages, checkpoint) => {
            expect(isLoading).toBe(false);
            isLoading = true;
            expect(pages.length).toBeGreaterThan(0);
            expect(pages.length).toBeLessThanOrEqual(BATCH_PAGES);
            passed.push(...pages.map(({ start }) => start));
            expect(checkpoint).toEqual(checkpointAt(pages.at(-1)?.start ?? -1));
            const turns = loadTurns[loads % loadTurns.length] ?? 0;
            loads += 1;
            batches += 1;
            if (pages.length === BATCH_PAGES) full += 1;
            for (let turn = 0; turn < turns; turn += 1) await null;
            isLoading = false;
            if (loads - 1 === failsAt) throw broken;
            done = passed.length;
            return { distinct: done, fresh: pages.length };
          },
        });
        const work = async () => {
          for (const one of steps) {
            if (one.kind === 'time') vi.advanceTimersByTime(one.ms);
            else if (one.kind === 'drain') {
              expect((await loader.drain())?.distinct ?? 0).toBe(pushed);
              expect(done).toBe(pushed);
            } else {
              for (let turn = 0; turn < one.turns; turn += 1) await null;
              await loader.push(pageAt(pushed), checkpointAt(pushed));
              pushed += 1;
              // One batch that is loaded, one that is gathered.
              expect(pushed - done).toBeLessThanOrEqual(2 * BATCH_PAGES);
            }
          }
          await loader.drain();
        };
        const error: unknown = await work().then(
          () => null,
          (thrown: unknown) => thrown,
        );
        expect(error).toBe(failsAt !== null && loads > failsAt ? broken : null);
        expect(passed).toEqual(range(0, passed.length));
        if (error === null) expect(passed).toHaveLength(pushed);
        else expect(loads - 1).toBe(failsAt);
        await settle();
        expect(vi.getTimerCount()).toBe(0);
      },
    ),
    { numRuns: STEPS_PLAYED },
  );
  // Otherwise nothing above was tested.
  expect(batches).toBeGreaterThan(4 * STEPS_PLAYED);
  expect(full).toBeGreaterThan(0.4 * STEPS_PLAYED);
});
