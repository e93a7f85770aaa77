import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRateLimiter } from '../../src/sandbox/rate-limit.ts';

describe('The sliding window', () => {
  it('lets through as many as the limit and refuses the next one', () => {
    const limiter = makeRateLimiter({ requests: 3, windowSeconds: 30 });
    const allowed = [0, 1, 2, 3].map((at) => limiter.receive(at).isAllowed);
    expect(allowed).toEqual([true, true, true, false]);
  });

  it('frees a request exactly when the oldest one leaves the window', () => {
    const limiter = makeRateLimiter({ requests: 1, windowSeconds: 30 });
    limiter.receive(1_000);
    expect(limiter.receive(30_999).isAllowed).toBe(false);
    expect(limiter.receive(31_000).isAllowed).toBe(true);
  });

  it('does not count a refused request', () => {
    const limiter = makeRateLimiter({ requests: 1, windowSeconds: 10 });
    limiter.receive(0);
    for (let at = 1; at < 10_000; at += 100) limiter.receive(at);
    expect(limiter.receive(10_000).isAllowed).toBe(true);
  });

  it('says how many are left, and in how many seconds one is free again', () => {
    const limiter = makeRateLimiter({ requests: 2, windowSeconds: 30 });
    const headers = (at: number) => Object.values(limiter.receive(at).headers);
    expect(headers(0)).toEqual(['2', '1', '30']);
    expect(headers(500)).toEqual(['2', '0', '30']);
    expect(headers(1_000)).toEqual(['2', '0', '29']);
    expect(headers(29_999)).toEqual(['2', '0', '1']);
  });

  it('may be lowered at any time: what was received before still counts', () => {
    const limiter = makeRateLimiter({ requests: 10, windowSeconds: 30 });
    for (let at = 0; at < 4; at += 1) limiter.receive(at * 1_000);
    limiter.setLimit({ requests: 2, windowSeconds: 30 });
    const verdict = limiter.receive(5_000);
    expect(verdict.isAllowed).toBe(false);
    // Those of second 0, 1 and 2 have to leave before another one fits.
    expect(verdict.headers).toMatchObject({ 'ratelimit-remaining': '0', 'ratelimit-reset': '27' });
    expect(limiter.receive(32_000).isAllowed).toBe(true);
  });

  it('keeps no limit and sends no headers where there is none', () => {
    const limiter = makeRateLimiter(null);
    expect(limiter.receive(0)).toEqual({ isAllowed: true, headers: {} });
  });

  it('holds in every window, whatever the moments, and its reset is always long enough', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 200 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 10 }), (steps, requests) => {
        const limit = { requests, windowSeconds: 3 };
        const limiter = makeRateLimiter(limit);
        const accepted: number[] = [];
        let at = 0;
        for (const step of steps) {
          at += step;
          const verdict = limiter.receive(at);
          if (verdict.isAllowed) accepted.push(at);
          else {
            const waited = at + Number(verdict.headers['ratelimit-reset']) * 1_000;
            expect(accepted.filter((moment) => moment > waited - 3_000).length).toBeLessThan(requests);
          }
        }
        for (const end of accepted) {
          expect(
            accepted.filter((moment) => moment > end - 3_000 && moment <= end).length,
          ).toBeLessThanOrEqual(requests);
        }
      }),
      {
        // All at once; a window to the millisecond, and one millisecond less.
        examples: [
          [[0, 0, 0, 0], 2],
          [[0, 900, 900, 900, 300, 0], 1],
          [[0, 900, 900, 900, 299, 1], 1],
        ],
      },
    );
  });
});
