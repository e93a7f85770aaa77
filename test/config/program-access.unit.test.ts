// Which hosts are this machine itself: only to these may a secret travel in the clear. And what no secret is.

import { expect, test } from 'vitest';
import { checkSecret, isLoopback } from '../../src/config/program/program-access.ts';

test.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]', '::1'])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  '127.evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '128.0.0.1',
  '10.0.0.1',
  '[::2]',
  '',
])('%s is not', (host) => {
  expect(isLoopback(host)).toBe(false);
});

test.each(['two words', 'a:b', 'two\nlines', 'sändbox', 'x\u0001y'])(
  '%j is no secret, and the message says why',
  (raw) => {
    const problems: string[] = [];
    expect(checkSecret(raw, 'AFFILIATE_API_SECRET', problems)).toBeNull();
    expect(problems).toEqual([
      'AFFILIATE_API_SECRET holds a character that no API secret has (a space, a colon, a line break, or one that is not plain ASCII)',
    ]);
  },
);
