// The walks against thousands of lists that change between any two answers.

import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CrawlOptions, Verdict } from '../../src/crawl/crawl.ts';
import { overlapStart } from '../../src/crawl/overlap-walk.ts';
import type { Page } from '../../src/crawl/page.ts';
import { prefixStart } from '../../src/crawl/prefix-walk.ts';
import { type ListCase, listCases, type MovingList, makeMovingList } from '../support/moving-list.ts';
import { sized } from '../support/sizes.ts';
import { crawl, walkOverlap, walkPrefix } from '../support/walks.ts';

const WALKS = sized(1000, 4000);

/** The smallest list that a plain walk and the prefix walk each missed a row of. */
const STILL = { size: 17, limit: 8, maximumLimit: 8 };
const DELETED_BEHIND_US: ListCase = {
  ...STILL,
  size: 9,
  changes: [[{ kind: 'delete', at: 0 }], []],
  movingAnswers: 2,
};
const BACK_DATED_WHILE_ONE_VANISHED: ListCase = {
  ...STILL,
  changes: [
    [{ kind: 'insert-at-head' }],
    [
      { kind: 'insert-back-dated', at: 17 / 18 },
      { kind: 'delete', at: 0 },
    ],
    [{ kind: 'delete', at: 0 }],
    [],
  ],
  movingAnswers: 4,
};
/** Each run draws new lists, beside those that failed once. A failure prints its seed. */
function runs(...examples: ListCase[]) {
  return { numRuns: WALKS, examples: examples.map((example): [ListCase] => [example]) };
}

function crawlList(list: MovingList, given: ListCase, options: Partial<CrawlOptions> = {}): Promise<Verdict> {
  return crawl(list, {
    limit: given.limit,
    resumeFrom: null,
    head: 'always',
    ...options,
  });
}

describe('the prefix walk', () => {
  test('misses no row that existed throughout, while new rows come at the head', async () => {
    let walks = 0;
    let gaveUp = 0;
    await fc.assert(
      fc.asyncProperty(listCases('at-head'), async (given) => {
        const list = makeMovingList(given);
        const { how } = await walkPrefix(list, prefixStart(given.limit));
        walks += 1;
        if (how !== 'complete') gaveUp += 1;
        else expect(list.missed()).toEqual([]);
      }),
      runs(DELETED_BEHIND_US),
    );
    expect(gaveUp / walks).toBeLessThan(0.01);
  });
});

describe('the overlap walk', () => {
  test('misses no row that existed throughout, even when new rows are back-dated', async () => {
    let walks = 0;
    let gaveUp = 0;
    await fc.assert(
      fc.asyncProperty(listCases('anywhere'), async (given) => {
        const list = makeMovingList(given);
        const { how } = await walkOverlap(list, overlapStart(given.limit));
        walks += 1;
        if (how !== 'complete') gaveUp += 1;
        else expect(list.missed()).toEqual([]);
      }),
      runs(DELETED_BEHIND_US, BACK_DATED_WHILE_ONE_VANISHED),
    );
    expect(gaveUp / walks).toBeLessThan(0.01);
  });

  test('costs about a seventh more requests than plain pages on a long, still list', async () => {
    const given = { size: 100_000, limit: 100, maximumLimit: 100 };
    const list = makeMovingList({ ...given, changes: [[]], movingAnswers: 0 });
    await walkOverlap(list, overlapStart(100));
    expect(list.answers()).toBeGreaterThan(1000);
    expect(list.answers()).toBeLessThan(1200);
  });

  test('that was killed joins on where it stopped: a still list costs no request more', async () => {
    const options = { limit: 100, head: 'always', resumeFrom: overlapStart(100) } as const;
    const makeList = () =>
      makeMovingList({ size: 2000, limit: 100, maximumLimit: 100, changes: [[]], movingAnswers: 0 });
    const [whole, list] = [makeList(), makeList()];
    await crawl(whole, options);
    const listPage: MovingList['listPage'] = async (request) => {
      if (list.answers() === 15) throw new Error('killed');
      return list.listPage(request);
    };
    await expect(crawl({ ...list, listPage }, options)).rejects.toThrow('killed');
    const verdict = await crawl(list, { ...options, resumeFrom: list.lastCheckpoint() });
    expect(verdict).toMatchObject({ verified: true, walk: 'overlap', distinct: 2000 });
    expect(list.answers()).toBe(whole.answers());
  });
});

describe('a crawl', () => {
  test('that is verified missed no row, while new rows come at the head', async () => {
    let verifiedWalks = 0;
    await fc.assert(
      fc.asyncProperty(listCases('at-head'), async (given) => {
        const list = makeMovingList(given);
        const { verified } = await crawlList(list, given);
        if (!verified) return;
        verifiedWalks += 1;
        expect(list.missed()).toEqual([]);
      }),
      runs(DELETED_BEHIND_US),
    );
    // 99 in a hundred: otherwise little above was tested.
    expect(verifiedWalks / WALKS).toBeGreaterThan(0.9);
  });

  test('that is verified misses a row only behind a back-dated insertion while a seen row vanished', async () => {
    let excused = 0;
    await fc.assert(
      fc.asyncProperty(listCases('anywhere'), async (given) => {
        const list = makeMovingList(given);
        const { verified } = await crawlList(list, given);
        if (!verified || list.missed().length === 0) return;
        excused += 1;
        expect([...list.did]).toEqual(expect.arrayContaining(['insert-back-dated', 'delete']));
      }),
      runs(DELETED_BEHIND_US, BACK_DATED_WHILE_ONE_VANISHED),
    );
    expect(excused).toBeGreaterThan(0);
    expect(excused / WALKS).toBeLessThan(0.02);
  });

  test('loads every page that was answered, once and in the order of asking, and asks for one at a time', async () => {
    await fc.assert(
      fc.asyncProperty(listCases('anywhere'), async (given) => {
        const list = makeMovingList(given);
        const answered: Page[] = [];
        let isAsking = false;
        const loaded: Page[] = [];
        const listPage: MovingList['listPage'] = async (request) => {
          expect(isAsking).toBe(false);
          isAsking = true;
          await setImmediate();
          const page = await list.listPage(request);
          isAsking = false;
          answered.push(page);
          return page;
        };
        const load: MovingList['load'] = (pages, checkpoint) => {
          loaded.push(...pages);
          return list.load(pages, checkpoint);
        };
        await crawlList({ ...list, listPage, load }, given);
        expect(loaded).toEqual(answered);
      }),
      runs(),
    );
  });

  test('that was killed continues from its checkpoint without missing a row that existed throughout both parts', async () => {
    let verifiedWalks = 0;
    await fc.assert(
      fc.asyncProperty(listCases('at-head'), fc.integer({ min: 1, max: 20 }), async (given, killAfter) => {
        const list = makeMovingList(given);
        const killed = new Error('killed');
        const listPage: MovingList['listPage'] = async (request) => {
          if (list.answers() >= killAfter) throw killed;
          return list.listPage(request);
        };
        const first = await crawlList({ ...list, listPage }, given).catch((error: unknown) => {
          if (error !== killed) throw error;
          return null;
        });
        if (first !== null) return;
        const { verified } = await crawlList(list, given, { resumeFrom: list.lastCheckpoint() });
        if (!verified) return;
        verifiedWalks += 1;
        expect(list.missed()).toEqual([]);
      }),
      { numRuns: WALKS, examples: [[DELETED_BEHIND_US, 1]] },
    );
    // Two in five are killed, and nearly all of these are verified in the end.
    expect(verifiedWalks / WALKS).toBeGreaterThan(0.2);
  });

  test('that was killed re-reads at most one page and the head of a still list', async () => {
    const given = { size: 1000, limit: 100, maximumLimit: 100 };
    const list = makeMovingList({ ...given, changes: [[]], movingAnswers: 0 });
    const listPage: MovingList['listPage'] = async (request) => {
      if (list.answers() === 6) throw new Error('killed');
      return list.listPage(request);
    };
    const settings = { limit: 100, head: 'always' } as const;
    await expect(crawl({ ...list, listPage }, { ...settings, resumeFrom: null })).rejects.toThrow('killed');
    const verdict = await crawl(list, { ...settings, resumeFrom: list.lastCheckpoint() });
    expect(verdict).toEqual({
      verified: true,
      reason: null,
      walk: 'prefix',
      distinct: 1000,
      total: 1000,
    });
    // 10 pages, one of them twice, and the head.
    expect(list.answers()).toBe(12);
  });

  test.each([
    ['nothing, where the list was still', [[]], 10],
    ['one, where something came meanwhile', [[], [{ kind: 'insert-at-head' }], []], 11],
  ] as const)('that reads the head only where the list moved spends %s', async (_, changes, requests) => {
    const given = { size: 999, limit: 100, maximumLimit: 100 };
    const list = makeMovingList({ ...given, changes, movingAnswers: 3 });
    const { verified } = await crawlList(
      list,
      { ...given, changes, movingAnswers: 3 },
      { head: 'when-moved' },
    );
    expect(verified).toBe(true);
    expect(list.seen.size).toBe(list.current().length);
    expect(list.answers()).toBe(requests);
  });

  test('that fails has loaded the pages before the one that failed', async () => {
    const list = makeMovingList({ ...STILL, size: 50, changes: [[]], movingAnswers: 0 });
    const listPage: MovingList['listPage'] = async (request) => {
      if (request.page === 4) throw new Error('page 4 fails');
      return list.listPage(request);
    };
    const crawling = crawl({ ...list, listPage }, { limit: 8, resumeFrom: null, head: 'always' });
    await expect(crawling).rejects.toThrow('page 4 fails');
    expect([...list.seen].toSorted()).toEqual(list.current().slice(0, 24).toSorted());
  });

  test('that fails while a load fails ends with the error of the load: its pages were read and are not stored', async () => {
    const list = makeMovingList({ ...STILL, size: 50, changes: [[]], movingAnswers: 0 });
    const listPage: MovingList['listPage'] = async (request) => {
      if (request.page === 4) throw new Error('page 4 fails');
      return list.listPage(request);
    };
    const load: MovingList['load'] = async () => {
      throw new Error('the load fails');
    };
    await expect(
      crawlList({ ...list, listPage, load }, { ...STILL, changes: [[]], movingAnswers: 0 }),
    ).rejects.toThrow('the load fails');
  });
});
