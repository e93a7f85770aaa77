// Pages are read as they come and loaded in batches: what a run takes for loaded must be, and in the order of reading.

import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiClient, ListedPage } from '../../src/api/client.ts';
import { prefixStart } from '../../src/crawl/prefix-walk.ts';
import { makeFirstLoad } from '../../src/mirror/first-load.ts';
import { makeSeenRows } from '../../src/mirror/runs/seen-rows.ts';
import { startRun } from '../../src/mirror/runs/sync-runs.ts';
import { makeFormReader } from '../../src/records/form-reader.ts';
import { makeLoadedCache } from '../../src/records/loaded-cache.ts';
import type { ReadPages } from '../../src/records/read-page.ts';
import { makeListPage } from '../../src/sync/list-resource.ts';
import { makeRunLoader, type RunLoader } from '../../src/sync/run-loader.ts';

import { useSyncing } from './syncing.ts';

const LIMIT = 10;

describe('a page that is answered before one that was asked for earlier', () => {
  const position = { previous_page: null, next_page: null, count: 0, total_pages: 9, total_count: 900 };

  /** Lists pages whose answers come when the test says so; a page's only record is its number. */
  function makePages() {
    const waiting = new Map<number, PromiseWithResolvers<ListedPage>>();
    const read: unknown[] = [];
    const list = (_: string, { page }: { page: number }) => {
      const answer = Promise.withResolvers<ListedPage>();
      waiting.set(page, answer);
      return answer.promise;
    };
    const listPage = makeListPage(
      {
        api: { list } as unknown as ApiClient,
        onRequest: () => {},
        recordReader: makeFormReader('referrals', makeLoadedCache()),
        readPage: ({ records }) => {
          read.push(...records);
          return {} as ReadPages;
        },
      },
      'referrals',
    );
    const answer = (page: number): ListedPage => ({
      pagination: { ...position, current_page: page, limit: LIMIT },
      data: [page],
      askedAt: '2026-07-01T00:00:00Z',
      ageMs: 0,
    });
    return {
      read,
      ask: (page: number) => listPage({ page, limit: LIMIT }, undefined),
      answer: (page: number) => waiting.get(page)?.resolve(answer(page)),
      fail: (page: number) => waiting.get(page)?.reject(new Error(`page ${page} failed`)),
    };
  }

  test('is read after it', async () => {
    const pages = makePages();
    const asked = [1, 2, 3].map(pages.ask);
    for (const number of [3, 1, 2]) pages.answer(number);
    await Promise.all(asked);
    expect(pages.read).toEqual([1, 2, 3]);
  });

  test('is read all the same where that one fails', async () => {
    const pages = makePages();
    const asked = [1, 2].map(pages.ask);
    pages.answer(2);
    pages.fail(1);
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(pages.read).toEqual([2]);
  });
});

describe('the loader of a run', () => {
  const given = useSyncing({ affiliates: 5, referrals: 45 });
  let loader: RunLoader;

  beforeAll(async () => {
    await given().sync('affiliates');
  });

  beforeEach(async () => {
    const { api, db } = given();
    await sql`truncate referrals, sync_runs cascade`.execute(db);
    loader = makeRunLoader(
      { api, db, account: null, personalData: null },
      {
        run: await startRun(db, { resource: 'referrals', mode: 'full' }),
        resource: 'referrals',
        signal: undefined,
        before: { seen: makeSeenRows(), anonymous: 0, firstLoad: makeFirstLoad(true) },
      },
    );
  });

  async function readPages(numbers: readonly number[]) {
    const listPage = loader.lister('referrals');
    return await Promise.all(numbers.map((page) => listPage({ page, limit: LIMIT }, undefined)));
  }

  test('loads what was read in that order, and a run may end then', async () => {
    const pages = await readPages([1, 2, 3]);
    expect(await loader.load(pages.slice(0, 2), prefixStart(LIMIT))).toMatchObject({ fresh: 20 });
    expect(() => loader.checkAllLoaded()).toThrow('1 pages were read and not loaded');
    expect(await loader.loadAside(pages.slice(2))).toMatchObject({ fresh: 10, distinct: 30 });
    expect(() => loader.checkAllLoaded()).not.toThrow();
  });

  test('refuses a page while one that was read before it is not loaded, whichever way it is loaded', async () => {
    const [, second] = await readPages([1, 2]);
    if (second === undefined) throw new Error('there is no second page');
    const refusal = 'pages are to be loaded in the order in which they were read';
    await expect(loader.load([second], prefixStart(LIMIT))).rejects.toThrow(refusal);
    await expect(loader.loadAside([second])).rejects.toThrow(refusal);
    const single = { observedAt: '2026-07-01T00:00:00Z', records: [] };
    await expect(loader.loadSingle([single])).rejects.toThrow(refusal);
    const { rows } = await given().database.pool.query('select 1 from referrals');
    expect(rows).toEqual([]);
  });

  test('refuses to go on after a load that failed, whose pages its run would take for loaded', async () => {
    const { database } = given();
    const pages = await readPages([1, 2]);
    await database.pool.query('alter table referrals rename to renamed');
    await expect(loader.load(pages.slice(0, 1), prefixStart(LIMIT))).rejects.toThrow(/does not exist/);
    await database.pool.query('alter table renamed rename to referrals');
    await expect(loader.load(pages.slice(1), prefixStart(LIMIT))).rejects.toThrow(TypeError);
    expect(() => loader.checkAllLoaded()).toThrow(TypeError);
  });
});
