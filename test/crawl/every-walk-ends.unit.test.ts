// Programs that contradict themselves, or that answer whatever they like: every crawl ends, soon, and says why.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CrawlOptions } from '../../src/crawl/crawl.ts';
import { overlapStart } from '../../src/crawl/overlap-walk.ts';
import type { Checkpoint, Page, PageRequest } from '../../src/crawl/page.ts';
import { prefixStart } from '../../src/crawl/prefix-walk.ts';
import { crawl, walkOverlap, walkPrefix } from '../support/walks.ts';

/** A crawl that is still going after so many requests would never end. */
const NEVER = 5_000;

type Answer = (request: PageRequest, answered: number) => Page;

/** A program that answers so, and the mirror of what it answered. */
function makeProgram(answer: Answer) {
  const seen = new Set<string>();
  let answered = 0;
  let checkpoint: Checkpoint | null = null;
  return {
    answered: () => answered,
    seen,
    checkpoint: () => checkpoint,
    listPage: async (request: PageRequest): Promise<Page> => {
      if (answered >= NEVER) throw new Error(`still asking after ${NEVER} requests`);
      const page = answer(request, answered);
      answered += 1;
      return page;
    },
    load: async (pages: readonly Page[], after: Checkpoint) => {
      const before = seen.size;
      for (const id of pages.flatMap(({ ids }) => ids)) if (id !== null) seen.add(id);
      checkpoint = after;
      return { distinct: seen.size, fresh: seen.size - before };
    },
  };
}

/** A still list of so many records, newest first. */
function pageOf(size: number, { page, limit }: PageRequest): Page {
  const start = (page - 1) * limit;
  const length = Math.max(0, Math.min(limit, size - start));
  const ids = Array.from({ length }, (_, index) => `r${start + index}`);
  return { start, limit, total: size, isLast: start + limit >= size, ids };
}

const OPTIONS: CrawlOptions = { limit: 100, resumeFrom: null, head: 'always' };
const STILL_REQUESTS = 21;

describe('a crawl of a program that contradicts itself', () => {
  test.each([
    ['100 of 2,000', 1900, 2000],
    ['half of the list', 1000, 2000],
    ['a record of 2', 1, 2],
  ])(
    'a total that swings by %s: every record is read, and the run is not verified',
    async (_, less, more) => {
      const program = makeProgram((request, answered) => ({
        ...pageOf(more, request),
        total: answered % 2 === 0 ? more : less,
      }));
      const verdict = await crawl(program, OPTIONS);
      expect(program.seen.size).toBe(more);
      expect(program.answered()).toBeLessThanOrEqual(10 * STILL_REQUESTS);
      // Of two records both were seen, which is all that any answer said there are.
      if (more > 2) {
        expect(verdict).toMatchObject({
          verified: false,
          reason: expect.stringMatching(/contradicts itself: .* total fell \d+ times, by \d+ records/),
        });
      }
    },
  );

  test('two replicas of which one lags by 250 records: ends, and never calls a list verified that it has not seen', async () => {
    const program = makeProgram((request, answered) => {
      if (answered % 2 === 0) return pageOf(2000, request);
      const page = pageOf(1750, request);
      return { ...page, ids: page.ids.map((id) => `r${Number(id?.slice(1)) + 250}`) };
    });
    const { verified } = await crawl(program, OPTIONS);
    expect(program.answered()).toBeLessThanOrEqual(20 * STILL_REQUESTS);
    if (verified) expect(program.seen.size).toBe(2000);
  });

  test.each<[string, Answer, RegExp, number]>([
    [
      'a page number that is always 1',
      (request) => ({ ...pageOf(2000, request), start: 0 }),
      /asked for page \d of 100, it answered page 1 of 100 records each, 3 times/,
      10,
    ],
    [
      'a limit that is larger than the one that was asked for',
      (request) => ({ ...pageOf(2000, request), start: (request.page - 1) * 1000, limit: 1000 }),
      /asked for page (\d) of 100, it answered page \1 of 1000 records each/,
      10,
    ],
    [
      'a list that grows with every answer as fast as it is read',
      (request, answered) => pageOf(1000 * (answered + 1), request),
      /took 100 requests without coming to its end, where 10 /,
      100,
    ],
    [
      'a total that is less than what its own pages hold',
      (request) => ({ ...pageOf(130, request), total: 90 }),
      /^the API contradicts itself: 130 different .* it says that it has 90, and the list stood still$/,
      4,
    ],
  ])('%s', async (_, answer, reason, most) => {
    const program = makeProgram(answer);
    expect(await crawl(program, OPTIONS)).toMatchObject({
      verified: false,
      reason: expect.stringMatching(reason),
    });
    expect(program.answered()).toBeLessThanOrEqual(most);
    // What was read is loaded all the same.
    expect(program.seen.size).toBeGreaterThanOrEqual(100);
  });

  test('a page that is another one once is asked for again, and the list verified', async () => {
    const program = makeProgram((request, answered) => {
      const page = pageOf(2000, request);
      return answered === 5 ? { ...page, start: 0 } : page;
    });
    expect(await crawl(program, OPTIONS)).toMatchObject({ verified: true, reason: null, distinct: 2000 });
    expect(program.answered()).toBeLessThanOrEqual(STILL_REQUESTS + 1);
  });

  test('records at the head that never end, each of them new', async () => {
    let created = 0;
    const program = makeProgram((request, answered) => {
      const page = pageOf(2000, request);
      if (answered < STILL_REQUESTS - 1) return page;
      return { ...page, isLast: false, ids: Array.from({ length: 100 }, () => `new${created++}`) };
    });
    expect(await crawl(program, OPTIONS)).toMatchObject({
      verified: false,
      reason: expect.stringMatching(
        /reading the list took 200 requests without coming to its end, where 20 /,
      ),
    });
    expect(program.answered()).toBe(20 + 200);
  });
});

test('the last page, answered where a later one was asked for, ends the walk: the list became shorter', async () => {
  const program = makeProgram((request, answered) => {
    const size = answered < 3 ? 400 : 290;
    const last = Math.ceil(size / request.limit);
    return pageOf(size, { ...request, page: Math.min(request.page, last) });
  });
  expect(await crawl(program, OPTIONS)).toMatchObject({ verified: true, distinct: 300, total: 290 });
});

test('the last page, answered where a later one exists by the total, is another page than the one asked for', async () => {
  const program = makeProgram((request) => {
    const isBeyond = request.page * request.limit > 1000;
    const page = pageOf(2000, isBeyond ? { ...request, page: 10 } : request);
    return { ...page, isLast: isBeyond };
  });
  expect(await crawl(program, OPTIONS)).toMatchObject({
    verified: false,
    reason: expect.stringContaining('asked for page 11 of 100, it answered page 10 of 100'),
  });
});

test.each([
  [7, 420],
  [10, 2520],
])(
  'pages of at most %i records, which none can overlap at record %i: the walk says so, at once',
  async (most, position) => {
    const program = makeProgram((request) =>
      pageOf(position + 4, { ...request, limit: Math.min(request.limit, most) }),
    );
    const verdict = await crawl(program, { ...OPTIONS, resumeFrom: overlapStart(100) });
    expect(verdict).toMatchObject({
      verified: false,
      reason: `the API serves at most ${most} records to a page, and no page of that size or less has both records ${position} and ${position + 1}`,
    });
    expect(program.answered()).toBeLessThan(2 * (position / most));
  },
);

test('a walk that is killed again and again counts its requests on, and ends', async () => {
  let allowance = 0;
  const program = makeProgram((request, answered) => {
    if (answered >= allowance) throw new Error('killed');
    return pageOf(1000 * (answered + 1), request);
  });
  let attempts = 0;
  for (let reason: string | null = null; reason === null && attempts < 50; attempts += 1) {
    allowance += 7;
    const options = { ...OPTIONS, resumeFrom: program.checkpoint() };
    reason = await crawl(program, options).then(
      (verdict) => verdict.reason,
      () => null,
    );
  }
  expect(attempts).toBeGreaterThan(10);
  expect(program.answered()).toBe(100);
});

describe('whatever a program answers', () => {
  const LIMIT = 20;
  const MOST_RECORDS = 300;
  /** The page number, limit and total are the program's own, or the right ones of a list of that length. */
  const answers = fc.array(
    fc.record({
      page: fc.option(fc.integer({ min: 1, max: 40 })),
      limit: fc.option(fc.integer({ min: 5, max: 40 })),
      total: fc.integer({ min: 0, max: MOST_RECORDS }),
      isLast: fc.option(fc.boolean(), { freq: 2 }),
      ids: fc.constantFrom('right', 'none', 'all new', 'all the same'),
    }),
    { minLength: 1, maxLength: 12 },
  );
  type Answers = typeof answers extends fc.Arbitrary<infer T> ? T : never;

  function play(script: Answers): Answer {
    let created = 0;
    return (request, answered) => {
      const said = script[answered % script.length];
      if (said === undefined) throw new TypeError('an empty script');
      const limit = said.limit ?? request.limit;
      const right = pageOf(said.total, { page: said.page ?? request.page, limit });
      const ids = {
        right: right.ids,
        none: [],
        'all new': right.ids.map(() => `new${created++}`),
        'all the same': right.ids.map(() => 'r0'),
      };
      return { ...right, isLast: said.isLast ?? right.isLast, ids: ids[said.ids] };
    };
  }
  /** The smallest limit that is ever answered decides. */
  const MOST_REQUESTS = 10 * (MOST_RECORDS / 5);
  /** A list that grows with every answer, and one that is empty and never ends: beside new ones in each run. */
  const GROWS: Answers = [{ page: null, limit: null, total: MOST_RECORDS, isLast: false, ids: 'all new' }];
  const NEVER_ENDS: Answers = [{ page: 1, limit: 5, total: 0, isLast: false, ids: 'none' }];
  const RUNS = {
    numRuns: 2000,
    examples: [GROWS, NEVER_ENDS].map((script): [Answers] => [script]),
  };

  test('each walk ends within its cap', async () => {
    let mostAnswers = 0;
    await fc.assert(
      fc.asyncProperty(answers, async (script) => {
        for (const isExact of [false, true]) {
          const program = makeProgram(play(script));
          const { checkpoint } = isExact
            ? await walkOverlap(program, overlapStart(LIMIT))
            : await walkPrefix(program, prefixStart(LIMIT));
          const cap = Math.max(100, 10 * Math.ceil((checkpoint.tally.firstTotal ?? 0) / checkpoint.limit));
          expect(program.answered()).toBeLessThanOrEqual(cap);
          mostAnswers = Math.max(mostAnswers, program.answered());
        }
      }),
      RUNS,
    );
    // Otherwise nothing above was tested.
    expect(mostAnswers).toBeGreaterThanOrEqual(100);
  });

  test('a crawl ends within the caps of its walks and heads, verified or with its reason', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (script) => {
        const program = makeProgram(play(script));
        const { verified, reason } = await crawl(program, { ...OPTIONS, limit: LIMIT });
        expect(program.answered()).toBeLessThanOrEqual(4 * MOST_REQUESTS);
        expect(reason === null).toBe(verified);
      }),
      RUNS,
    );
  });
});

describe('a record without an identifier', () => {
  /** A list of so many records, of which the one at that place has none. */
  const withNameless = (size: number, place: number, request: PageRequest): Page => {
    const page = pageOf(size, request);
    return { ...page, ids: page.ids.map((id) => (id === `r${place}` ? null : id)) };
  };
  const UNPROVEN = {
    verified: false,
    reason: 'the list has a record without a usable identifier, which may be any of its records',
  };

  test.each<[string, Partial<CrawlOptions>, number, object]>([
    ['when it is read to its end', { head: 'when-moved' }, 20, { distinct: 1999 }],
    ['when its head is to be read always', { head: 'always' }, 20, { distinct: 1999 }],
    [
      'when the overlap walk reads it',
      { resumeFrom: overlapStart(100) },
      NEVER,
      { walk: 'overlap', distinct: 1999 },
    ],
  ])('leaves a list unverified, with that as the reason, %s', async (_, options, most, verdict) => {
    const program = makeProgram((request) => withNameless(2000, 150, request));
    expect(await crawl(program, { ...OPTIONS, ...options })).toMatchObject({ ...UNPROVEN, ...verdict });
    expect(program.answered()).toBeLessThanOrEqual(most);
  });

  test('leaves a list unverified at whose head alone it is', async () => {
    const program = makeProgram((request, answered) => withNameless(2000, answered < 20 ? -1 : 5, request));
    expect(await crawl(program, OPTIONS)).toMatchObject(UNPROVEN);
    expect(program.answered()).toBe(21);
  });

  test('is not forgotten by a walk that was killed behind it', async () => {
    const program = makeProgram((request, answered) => {
      if (answered === 10) throw new Error('killed');
      return withNameless(2000, 150, request);
    });
    await expect(crawl(program, OPTIONS)).rejects.toThrow('killed');
    const resumed = makeProgram((request) => withNameless(2000, 150, request));
    const options = { ...OPTIONS, resumeFrom: program.checkpoint() };
    expect(await crawl(resumed, options)).toMatchObject(UNPROVEN);
    expect(resumed.answered()).toBeLessThan(20);
  });
});

test('a total that is short once is no contradiction', async () => {
  const program = makeProgram((request, answered) => ({
    ...pageOf(130, request),
    total: answered === 0 ? 99 : 130,
  }));
  expect(await crawl(program, OPTIONS)).toMatchObject({ verified: true });
});

test('a total that fell when the head was read is no contradiction: a record that was seen is gone', async () => {
  const program = makeProgram((request, answered) => pageOf(answered < 2 ? 130 : 129, request));
  expect(await crawl(program, OPTIONS)).toMatchObject({ verified: true, distinct: 130, total: 129 });
});
