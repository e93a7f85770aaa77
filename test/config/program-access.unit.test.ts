// Which hosts are this machine itself: only to these may a secret travel in the clear.

import { expect, test } from 'vitest';
import { isLoopback } from '../../src/config/program-access.ts';

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
