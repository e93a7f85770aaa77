import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeRateLimiter } from '../../src/sandbox/rate-limit.ts';

describe('The sliding window', () => {
  it('says how many are left, and in how many seconds one is free again', () => {
    const limiter = makeRateLimiter({ requests: 2, windowSeconds: 30 });
    const headers = (at: number) => Object.values(limiter.receive(at).headers);
    expect(headers(0)).toEqual(['2', '1', '30']);
    expect(headers(500)).toEqual(['2', '0', '30']);
    expect(headers(1_000)).toEqual(['2', '0', '29']);
    expect(headers(29_999)).toEqual(['2', '0', '1']);
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
