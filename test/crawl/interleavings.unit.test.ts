// The cases that the argument does not exclude, in which a verified walk misses an existing row. Each is shown to do
// so, and the next run to find the row; the missed row is never taken for deleted. Lists are words, newest letter
// first.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Page } from '../../src/crawl/page.ts';
import { makeModelMirror } from '../support/model-mirror.ts';
import { listCases, makeMovingList } from '../support/moving-list.ts';
import { sized } from '../support/sizes.ts';

const PROGRAMS = sized(1500, 12_000);

interface Moment {
  readonly list: string;
  /** What the program says that it has, where that is not the truth. */
  readonly total?: number;
}

/** The list as it is when the first request is answered, the second, and so on. */
function makeScriptedList(moments: readonly (string | Moment)[]) {
  let asked = 0;
  let now: Moment = { list: '' };
  const next = (): Moment => {
    const moment = moments[Math.min(asked, moments.length - 1)] ?? '';
    asked += 1;
    now = typeof moment === 'string' ? { list: moment } : moment;
    return now;
  };
  return {
    asked: () => asked,
    now: () => [...now.list].sort(),
    find: async (id: string) => next().list.includes(id),
    listPage: async ({ page, limit }: { page: number; limit: number }): Promise<Page> => {
      const { list, total = list.length } = next();
      const start = (page - 1) * limit;
      return {
        start,
        limit,
        total,
        isLast: start + limit >= total,
        ids: [...list.slice(start, start + limit)],
      };
    },
  };
}

const CASES: readonly {
  readonly name: string;
  readonly moments: readonly (string | Moment)[];
  readonly missed: string;
}[] = [
  {
    name: 'two rows of equal time flip across the pages’ border (d, e), and then a seen row vanishes (f)',
    moments: ['abcdef', 'abcdef', 'abcedf', 'abced'],
    missed: 'e',
  },
  {
    name: 'the total is wrong',
    moments: [
      { list: 'abcdef', total: 4 },
      { list: 'abcdef', total: 4 },
      { list: 'abcdef', total: 4 },
      'abcdef',
    ],
    missed: 'ef',
  },
  {
    name: 'a seen row vanishes (a) while another is inserted behind, back-dated (x): the total does not fall',
    moments: ['abcdef', 'abcdef', 'bcdexf'],
    missed: 'e',
  },
];

describe('a verified walk misses an existing row where', () => {
  test.each(CASES)('$name; the next run finds it', async ({ moments, missed }) => {
    const list = makeScriptedList(moments);
    const mirror = makeModelMirror(list);
    const verdict = await mirror.sync({ limit: 2 });
    expect(verdict).toMatchObject({ verified: true, walk: 'prefix' });
    // The script was played to its end: what the walk missed is there at the end of it.
    expect(list.asked()).toBeGreaterThanOrEqual(moments.length - 1);
    expect(mirror.living().filter((id) => missed.includes(id))).toEqual([]);

    expect(await mirror.sync({ limit: 2 })).toMatchObject({ verified: true });
    expect(mirror.living()).toEqual(list.now());
    expect([...missed].every((id) => mirror.living().includes(id))).toBe(true);
  });

  test.each(CASES)('$name; a row that an earlier run read is not taken for deleted', async (given) => {
    const { moments, missed } = given;
    const list = makeScriptedList([...Array<string>(4).fill('abcdef'), ...moments]);
    const mirror = makeModelMirror(list);
    await mirror.sync({ limit: 2 });
    expect(list.asked()).toBe(4);
    expect(await mirror.sync({ limit: 2 })).toMatchObject({ verified: true });
    expect(mirror.deleted().filter((id) => missed.includes(id))).toEqual([]);
  });
});

test('an existing row that the run missed is found by the second, overlap walk, where a plain one would miss it too', async () => {
  const missesL = ['defghijklm', 'defghijklm', 'efghijklxm', 'efghijklxm'];
  const missesLAgain = ['pqefghijklxm', 'pqefghijklxm', 'efghijklxmyz'];
  const known = Array<string>(5).fill('abcdefghijklm');
  const list = makeScriptedList([...known, ...missesL, ...missesLAgain]);
  const mirror = makeModelMirror(list);
  await mirror.sync({ limit: 4 });
  expect(await mirror.sync({ limit: 4 })).toMatchObject({ verified: true, walk: 'prefix' });
  expect(mirror.deleted()).toEqual(['a', 'b', 'c']);
});

describe('a flip of two rows alone', () => {
  test('is noticed by the verdict, and the overlap walk finds the row', async () => {
    const list = makeScriptedList(['abcdefghijkl', 'abcdefghijkl', 'abcdefgihjkl']);
    const mirror = makeModelMirror(list);
    expect(await mirror.sync({ limit: 4 })).toMatchObject({
      verified: true,
      walk: 'overlap',
    });
    expect(mirror.living()).toEqual(list.now());
  });
});

describe('runs over a program that changes, rows being inserted anywhere', () => {
  test('never mark an existing row deleted, and the first one after it stops changing makes the mirror equal to it', async () => {
    let marked = 0;
    await fc.assert(
      fc.asyncProperty(listCases('anywhere'), fc.integer({ min: 1, max: 4 }), async (given, runs) => {
        const list = makeMovingList(given);
        const mirror = makeModelMirror(list);
        for (let run = 0; run < runs; run += 1) {
          await mirror.sync(given);
          const living = new Set(list.current());
          expect(mirror.deleted().filter((id) => living.has(id))).toEqual([]);
        }
        list.rest();
        expect(await mirror.sync(given)).toMatchObject({ verified: true });
        expect(mirror.living()).toEqual(list.current().sort());
        marked += mirror.deleted().length;
      }),
      { numRuns: PROGRAMS },
    );
    // Otherwise nothing above was tested.
    expect(marked).toBeGreaterThan(PROGRAMS);
  });
});
