import { describe, expect, it } from 'vitest';
import { type Attempts, type RetryWait, retry } from '../../src/api/retry.ts';
import {
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
  DatabaseUnreachable,
  WriteOutcomeUnknown,
} from '../../src/errors.ts';
import { makeRefusal } from './make-refusal.ts';

const attempts: Attempts = { most: 4, mostThrottled: 6, firstWaitMs: 0, longestWaitMs: 0 };

/**
 * Runs attempts that fail in this order, the last of them again and again; returns how it ended and what was waited.
 */
async function run(errors: readonly Error[], signal?: AbortSignal, own: Partial<Attempts> = {}) {
  const waited: RetryWait[] = [];
  let calls = 0;
  const ended = retry(
    { ...attempts, ...own },
    async (number) => {
      calls += 1;
      expect(number).toBe(calls);
      const error = errors[Math.min(calls, errors.length) - 1];
      if (error !== undefined) throw error;
      return 'done';
    },
    { onWait: (wait) => waited.push(wait), signal },
  );
  const failure = await ended.then(
    () => null,
    (error: unknown) => error,
  );
  return { failure, calls, waitsMs: waited.map(({ waitMs }) => waitMs) };
}

const unavailable = new ApiUnavailable('503', 503);

describe('retrying', () => {
  it.each([new ApiUnreachable('no answer'), unavailable, new ContractViolation('HTML')])(
    'gives up with the last error when %s stays',
    async (error) => {
      expect(await run([error])).toMatchObject({ failure: error, calls: attempts.most });
    },
  );

  it.each([
    new ApiUnauthorized('401'),
    makeRefusal('404', 404),
    new WriteOutcomeUnknown('sent'),
    new DatabaseUnreachable('the budget’s database is gone'),
    new TypeError('fetch failed'),
    new TypeError('x is not a function'),
    new Error('a bug'),
  ])('does not repeat what no retry can fix: %s', async (error) => {
    expect(await run([error])).toEqual({ failure: error, calls: 1, waitsMs: [] });
  });

  it('waits twice as long each time, up to a longest wait, and by chance up to twice as long as that', async () => {
    const own = { firstWaitMs: 4, longestWaitMs: 24 };
    const all = await Promise.all(
      Array.from({ length: 400 }, () => run([unavailable], undefined, { ...own, most: 5 })),
    );
    for (const [index, least] of [4, 8, 16].entries()) {
      const sample = all.map(({ waitsMs }) => waitsMs[index] ?? Number.NaN);
      const most = Math.min(2 * least, own.longestWaitMs);
      expect(Math.min(...sample)).toBe(least);
      expect(Math.max(...sample)).toBe(most);
      expect(new Set(sample).size).toBe(most - least + 1);
    }
    expect(new Set(all.map(({ waitsMs }) => waitsMs[3]))).toEqual(new Set([own.longestWaitMs]));
  });

  it('does not count a 429 as a failure, but gives up on a persistent one', async () => {
    const throttled = new ApiThrottled('429', 0);
    expect(await run([throttled])).toMatchObject({ failure: throttled, calls: attempts.mostThrottled });
    const mixed = [unavailable, throttled, unavailable, throttled, unavailable, throttled, throttled];
    expect(await run([...mixed, unavailable])).toMatchObject({ failure: unavailable, calls: 8 });
  });

  it('ends with the signal’s reason when aborted during a wait', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const hour = { firstWaitMs: 3_600_000, longestWaitMs: 3_600_000 };
    const waiting = run([unavailable], controller.signal, hour);
    setImmediate(() => controller.abort(reason));
    expect(await waiting).toMatchObject({ failure: reason, calls: 1 });
  });

  it('does not begin when aborted before, whatever the reason is', async () => {
    expect(await run([unavailable], AbortSignal.abort('a text'))).toEqual({
      failure: 'a text',
      calls: 0,
      waitsMs: [],
    });
  });

  it('counts an abort in the midst of an attempt as no failure', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const ended = retry(
      attempts,
      async () => {
        controller.abort(reason);
        throw unavailable;
      },
      { onWait: () => expect.unreachable('no wait may follow'), signal: controller.signal },
    );
    await expect(ended).rejects.toBe(reason);
  });
});
