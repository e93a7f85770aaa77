// Which answers are older than their request, by their Age.

import { expect, test } from 'vitest';
import { refuseStored } from '../../src/api/answer-age.ts';
import { AnswerStored } from '../../src/base/errors.ts';

const refused = (method: 'GET' | 'PUT', status: number, headers: object, tookMs: number) => () =>
  refuseStored(
    { method, path: '/v1/affiliates', query: '', body: null },
    { status, headers: { ...headers }, sentAtMs: 1000, headersAtMs: 1000 + tookMs },
  );

test.each([
  ['no Age', 'GET', 200, {}, 20],
  ['an Age of 0', 'GET', 200, { age: '0' }, 20],
  ['an Age that the answer took: the API may have given it meanwhile', 'GET', 200, { age: '3' }, 3000],
  ['an Age that is none', 'GET', 200, { age: 'a while' }, 20],
  ['an old Date, which may be a wrong clock', 'GET', 200, { date: 'Sun, 01 Mar 2026 00:00:00 GMT' }, 20],
  ['a failure', 'GET', 503, { age: '300' }, 20],
  ['429', 'GET', 429, { age: '300' }, 20],
  ['the answer to a change', 'PUT', 200, { age: '300' }, 20],
] as const)('%s is accepted', (_, method, status, headers, tookMs) => {
  expect(refused(method, status, headers, tookMs)).not.toThrow();
});

test.each([200, 404, 401])('an answer %i of minutes ago is refused', (status) => {
  expect(refused('GET', status, { age: '300' }, 20)).toThrow(AnswerStored);
  expect(refused('GET', status, { age: '300' }, 20)).toThrow('the answer is 300 s older than the request');
});
