// Wrong passwords are counted by client, for a while, and of a bounded number of clients.

import { expect, test } from 'vitest';
import { clientOf, makeThrottle } from '../../src/web/throttle.ts';

const LIMITS = { most: 3, windowMs: 60_000, mostAddresses: 2 };

function start() {
  const clock = { ms: 0 };
  return { clock, throttle: makeThrottle(LIMITS, () => clock.ms) };
}

test('the one too many is known as that, and the client waits until the window that began with its first is over', () => {
  const { clock, throttle } = start();
  expect([throttle.note('a'), throttle.note('a')]).toEqual([false, false]);
  expect(throttle.waitOf('a')).toBeNull();
  clock.ms = 20_500;
  expect(throttle.note('a')).toBe(true);
  expect(throttle.waitOf('a')).toBe(40);
  expect(throttle.waitOf('b')).toBeNull();
  clock.ms = 59_999;
  expect(throttle.waitOf('a')).toBe(1);
  clock.ms = 60_000;
  expect(throttle.waitOf('a')).toBeNull();
  expect(throttle.note('a')).toBe(false);
});

test('of more clients than are kept, the first is forgotten', () => {
  const { throttle } = start();
  for (const client of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) throttle.note(client);
  expect(throttle.waitOf('a')).toBeNull();
  expect(throttle.waitOf('b')).toBe(60);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:0:7::', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
])('the address %s belongs to the client %s', (address, client) => {
  expect(clientOf(address)).toBe(client);
});
