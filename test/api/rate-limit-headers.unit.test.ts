import { describe, expect, it } from 'vitest';
import { type AnswerHeaders, readRateLimitHeaders } from '../../src/api/rate-limit-headers.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const read = (status: number, headers: AnswerHeaders) => readRateLimitHeaders(status, headers, NOW);
const waitOf = (headers: AnswerHeaders) => read(429, headers).resetMs;

describe('the rate limit that headers name', () => {
  it('is read from the three RateLimit headers, the reset in seconds', () => {
    const headers = { 'ratelimit-limit': '45', 'ratelimit-remaining': '12', 'ratelimit-reset': '7' };
    expect(read(200, headers)).toEqual({ throttled: false, limit: 45, remaining: 12, resetMs: 7000 });
  });

  it('is unknown in each place where a header is missing', () => {
    expect(read(200, {})).toEqual({ throttled: false, limit: null, remaining: null, resetMs: null });
    expect(read(429, { 'ratelimit-remaining': '0' })).toEqual({
      throttled: true,
      limit: null,
      remaining: 0,
      resetMs: null,
    });
  });

  it('takes the figure before a quota policy, and the first of a repeated header', () => {
    for (const limit of ['45, 45;w=30', '45;w=30', '45 ;w=30']) {
      expect(read(200, { 'ratelimit-limit': limit }).limit, limit).toBe(45);
    }
    expect(read(200, { 'ratelimit-remaining': ['3', '9'] }).remaining).toBe(3);
  });

  it.each(['soon', '', ' ', '-1', '1e3', '0x10', 'NaN', '12abc', '9999999999', '99999999999999999999'])(
    'is not guessed from %j',
    (value) => {
      const headers = { 'ratelimit-limit': value, 'ratelimit-remaining': value, 'ratelimit-reset': value };
      expect(read(429, { ...headers, 'retry-after': value })).toEqual({
        throttled: true,
        limit: null,
        remaining: null,
        resetMs: null,
      });
    },
  );

  it('ignores a reset that cannot be a wait, such as a Unix timestamp', () => {
    expect(waitOf({ 'ratelimit-reset': '1772366400' })).toBeNull();
    expect(waitOf({ 'ratelimit-reset': '86401' })).toBeNull();
    expect(waitOf({ 'ratelimit-reset': '86400' }), 'a day is a wait').toBe(300_000);
    expect(waitOf({ 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' })).toBeNull();
  });
});

describe('the wait that a 429 asks for', () => {
  it('is the longer one where both headers name it', () => {
    expect(waitOf({ 'retry-after': '3', 'ratelimit-reset': '9' })).toBe(9000);
    expect(waitOf({ 'retry-after': '30', 'ratelimit-reset': '9' })).toBe(30_000);
  });

  it('leaves Retry-After aside on any other answer: it says nothing of the budget there', () => {
    expect(read(503, { 'retry-after': '30' }).resetMs).toBeNull();
    expect(read(503, { 'retry-after': '30' }).throttled).toBe(false);
  });
});
