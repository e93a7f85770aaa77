// The buffer between reading and loading: what it holds, in which order it loads them, and how it ends.

import { promiseHooks } from 'node:v8';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeLoader } from '../../src/crawl/loader.ts';
import type { Checkpoint, Loaded, Page } from '../../src/crawl/page.ts';
import { prefixStart } from '../../src/crawl/prefix-walk.ts';
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

async function countPromises(work: () => Promise<void>): Promise<number> {
  let count = 0;
  const stop = promiseHooks.onInit(() => {
    count += 1;
  });
  await work();
  stop();
  return count;
}

function pageAt(start: number): Page {
  return { start, limit: 1, total: 1000, isLast: false, ids: [`r${start}`] };
}

function checkpointAt(start: number): Checkpoint {
  return { ...prefixStart(1), covered: start + 1 };
}

interface Call {
  readonly starts: readonly number[];
  readonly checkpoint: Checkpoint;
  finish(): void;
  fail(error: Error): void;
}

/** A loader whose loads end when the test says so. */
function makeTestLoader() {
  const calls: Call[] = [];
  const loader = makeLoader<Page>({
    load: (pages, checkpoint) => {
      const { promise, resolve, reject } = Promise.withResolvers<Loaded>();
      calls.push({
        starts: pages.map(({ start }) => start),
        checkpoint,
        finish: () => resolve({ distinct: pages.length, fresh: calls.length }),
        fail: reject,
      });
      return promise;
    },
  });
  let next = 0;
  return {
    drain: loader.drain,
    /** Returns the loads so far, by the pages that each was called with. */
    batches: () => calls.map(({ starts }) => starts),
    call: (index: number): Call => {
      const call = calls[index];
      if (call === undefined) throw new Error(`there was no load ${index}`);
      return call;
    },
    /** Pushes the next page; returns a check of whether it was accepted yet. */
    push() {
      const state = { isAccepted: false };
      const start = next;
      next += 1;
      const pushed = loader.push(pageAt(start), checkpointAt(start)).then(() => {
        state.isAccepted = true;
      });
      return { state, pushed };
    },
    async pushAll(count: number) {
      for (let index = 0; index < count; index += 1) await this.push().pushed;
    },
  };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

describe('a batch', () => {
  test('is gathered for a moment, and is what came until then', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(1);
    vi.advanceTimersByTime(GATHER_MS - 1);
    await loader.pushAll(2);
    await settle();
    expect(loader.batches()).toEqual([]);
    vi.advanceTimersByTime(1);
    await settle();
    expect(loader.batches()).toEqual([[0, 1, 2]]);
    expect(loader.call(0).checkpoint).toEqual(checkpointAt(2));
  });

  test('of forty pages waits no longer', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(BATCH_PAGES - 1);
    await settle();
    expect(loader.batches()).toEqual([]);
    await loader.pushAll(1);
    await settle();
    expect(loader.batches()).toEqual([range(0, BATCH_PAGES)]);
  });

  test('is a single page where pages come rarely', async () => {
    const loader = makeTestLoader();
    for (let index = 0; index < 3; index += 1) {
      await loader.pushAll(1);
      vi.advanceTimersByTime(GATHER_MS);
      await settle();
      loader.call(index).finish();
      await settle();
    }
    expect(loader.batches()).toEqual([[0], [1], [2]]);
  });

  test('is gathered while the one before is loaded, and is loaded only after it', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(BATCH_PAGES);
    await loader.pushAll(3);
    vi.advanceTimersByTime(10 * GATHER_MS);
    await settle();
    expect(loader.batches()).toHaveLength(1);
    loader.call(0).finish();
    await settle();
    vi.advanceTimersByTime(GATHER_MS);
    await settle();
    expect(loader.batches()[1]).toEqual(range(BATCH_PAGES, BATCH_PAGES + 3));
  });
});

describe('a page', () => {
  test('waits while one batch is loaded and a whole one is gathered, until that one is taken, not until it is loaded', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(2 * BATCH_PAGES);
    const { state } = loader.push();
    vi.advanceTimersByTime(10 * GATHER_MS);
    await settle();
    expect(state.isAccepted).toBe(false);
    loader.call(0).finish();
    await settle();
    // The second load is at work and has not ended.
    expect(loader.batches()).toEqual([range(0, BATCH_PAGES), range(BATCH_PAGES, 2 * BATCH_PAGES)]);
    expect(state.isAccepted).toBe(true);
  });

  test('that waits does not keep looking: the process would do nothing else', async () => {
    const loader = makeTestLoader();
    const idle = await countPromises(settle);
    await loader.pushAll(2 * BATCH_PAGES);
    loader.push();
    await settle();
    expect(await countPromises(settle)).toBeLessThan(idle + TURNS / 2);
  });

  test('is one of many that are pushed at once, and the batches are no larger for it', async () => {
    const loader = makeTestLoader();
    const pushes = Promise.all(range(0, 5 * BATCH_PAGES).map(() => loader.push().pushed));
    for (let index = 0; index < 5; index += 1) {
      await settle();
      expect(loader.batches()).toHaveLength(index + 1);
      loader.call(index).finish();
    }
    await pushes;
    await loader.drain();
    expect(loader.batches()).toEqual(
      range(0, 5).map((index) => range(index * BATCH_PAGES, (index + 1) * BATCH_PAGES)),
    );
  });

  test('that comes in the very moment in which the loader runs dry is loaded like any other', async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const loader = makeTestLoader();
      await loader.pushAll(BATCH_PAGES);
      await settle();
      loader.call(0).finish();
      for (let turn = 0; turn < turns; turn += 1) await null;
      loader.push();
      await settle();
      vi.advanceTimersByTime(GATHER_MS);
      await settle();
      expect({ turns, batches: loader.batches() }).toEqual({
        turns,
        batches: [range(0, BATCH_PAGES), [BATCH_PAGES]],
      });
    }
  });

  test('that comes in that very moment is loaded by a drain as well', async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const loader = makeTestLoader();
      await loader.pushAll(BATCH_PAGES);
      await settle();
      loader.call(0).finish();
      for (let turn = 0; turn < turns; turn += 1) await null;
      loader.push();
      const drained = loader.drain();
      await settle();
      loader.call(1).finish();
      expect(await drained).toEqual({ distinct: 1, fresh: 2 });
    }
  });
});

describe('a drain', () => {
  test('returns null where nothing was ever accepted', async () => {
    expect(await makeTestLoader().drain()).toBeNull();
  });

  test('loads at once what is gathered, and ends when it is loaded', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(3);
    const ended = vi.fn();
    const drained = loader.drain().then(ended);
    await settle();
    expect(loader.batches()).toEqual([[0, 1, 2]]);
    expect(ended).not.toHaveBeenCalled();
    loader.call(0).finish();
    await drained;
    expect(ended).toHaveBeenCalledWith({ distinct: 3, fresh: 1 });
  });

  test('loads at once what was gathered during a load, and returns what the last one did', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(BATCH_PAGES + 1);
    const drained = loader.drain();
    await settle();
    loader.call(0).finish();
    await settle();
    expect(loader.batches()).toEqual([range(0, BATCH_PAGES), [BATCH_PAGES]]);
    loader.call(1).finish();
    expect(await drained).toEqual({ distinct: 1, fresh: 2 });
  });

  test('leaves no timer behind, and none that ends a later batch early', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(1);
    const drained = loader.drain();
    await settle();
    expect(vi.getTimerCount()).toBe(0);
    loader.call(0).finish();
    await drained;
    vi.advanceTimersByTime(GATHER_MS - 1);
    await loader.pushAll(1);
    vi.advanceTimersByTime(GATHER_MS - 1);
    await settle();
    expect(loader.batches()).toEqual([[0]]);
    vi.advanceTimersByTime(1);
    await settle();
    expect(loader.batches()).toEqual([[0], [1]]);
  });
});

describe('after a load that fails', () => {
  test('nothing further is loaded, and every push and drain throws its error', async () => {
    const loader = makeTestLoader();
    await loader.pushAll(2 * BATCH_PAGES);
    const blocked = loader.push().pushed;
    const drained = loader.drain();
    const broken = new Error('broken');
    loader.call(0).fail(broken);
    await expect(blocked).rejects.toBe(broken);
    await expect(drained).rejects.toBe(broken);
    for (let time = 0; time < 2; time += 1) {
      await expect(loader.push().pushed).rejects.toBe(broken);
      await expect(loader.drain()).rejects.toBe(broken);
    }
    vi.advanceTimersByTime(10 * GATHER_MS);
    await settle();
    expect(loader.batches()).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a page that comes in that very moment is not loaded, and nobody is left waiting', async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const loader = makeTestLoader();
      await loader.pushAll(BATCH_PAGES);
      await settle();
      const broken = new Error('broken');
      loader.call(0).fail(broken);
      for (let turn = 0; turn < turns; turn += 1) await null;
      await loader.push().pushed.catch((error: unknown) => expect(error).toBe(broken));
      vi.advanceTimersByTime(GATHER_MS);
      await settle();
      expect(loader.batches()).toHaveLength(1);
      await expect(loader.drain()).rejects.toBe(broken);
    }
  });
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
        const loader = makeLoader<Page>({
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
