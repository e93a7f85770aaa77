import { describe, expect, it } from 'vitest';
import { ATTEMPTS, type Attempts, retry, type Wait } from '../../src/api/retry.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  ContractViolation,
  DatabaseUnreachable,
  WriteOutcomeUnknown,
} from '../../src/errors.ts';

const waits = async () => {};
const attempts: Attempts = { most: 4, mostThrottled: 6, wait: waits };

/** Runs attempts that fail in this order, the last of them again and again; returns how it ended and what was waited. */
async function run(errors: readonly Error[], signal?: AbortSignal, own: Partial<Attempts> = {}) {
  const waited: Wait[] = [];
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
    (wait) => waited.push(wait),
    signal,
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
    new ApiRejected('404', 404, []),
    new WriteOutcomeUnknown('sent'),
    new DatabaseUnreachable('the budget’s database is gone'),
    new TypeError('fetch failed'),
    new TypeError('x is not a function'),
    new Error('a bug'),
  ])('does not repeat what no retry can fix: %s', async (error) => {
    expect(await run([error])).toEqual({ failure: error, calls: 1, waitsMs: [] });
  });

  it('waits with full jitter: anywhere between nothing and a ceiling that doubles', async () => {
    const all = await Promise.all(Array.from({ length: 400 }, () => run([unavailable])));
    for (const [index, ceiling] of [500, 1000, 2000].entries()) {
      const sample = all.map(({ waitsMs }) => waitsMs[index] ?? Number.NaN);
      expect(Math.min(...sample)).toBeGreaterThanOrEqual(0);
      expect(Math.min(...sample)).toBeLessThan(ceiling / 10);
      expect(Math.max(...sample)).toBeLessThanOrEqual(ceiling);
      expect(Math.max(...sample)).toBeGreaterThan(ceiling * 0.9);
    }
  });

  it('does not count a 429 as a failure, but gives up on a persistent one', async () => {
    const throttled = new ApiThrottled('429', 0);
    expect(await run([throttled])).toMatchObject({ failure: throttled, calls: attempts.mostThrottled });
    const mixed = [unavailable, throttled, unavailable, throttled, unavailable, throttled, throttled];
    expect(await run([...mixed, unavailable])).toMatchObject({ failure: unavailable, calls: 8 });
  });

  it('waits at least as long as a 429 asks for', async () => {
    const { waitsMs } = await run([new ApiThrottled('429', 9000), unavailable]);
    expect(waitsMs[0]).toBeGreaterThanOrEqual(9000);
    expect(waitsMs[0]).toBeLessThanOrEqual(9500);
    expect(waitsMs[1]).toBeLessThanOrEqual(500);
  });

  it('ends with the signal’s reason when aborted during a wait, by the real timer', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const waiting = run([new ApiThrottled('429', 60_000)], controller.signal, { wait: ATTEMPTS.wait });
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
      () => expect.unreachable('no wait may follow'),
      controller.signal,
    );
    await expect(ended).rejects.toBe(reason);
  });
});
