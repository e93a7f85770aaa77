// Wrong passwords are counted by client, for a while, and of a bounded number of clients.

import { expect, test } from 'vitest';
import { clientOf, makeThrottle } from '../../src/web/door.ts';

function start() {
  const clock = { ms: 0 };
  const throttle = makeThrottle(() => clock.ms);
  const noteTimes = (times: number, address: string) =>
    Array.from({ length: times }, () => throttle.note(address));
  return { clock, throttle, noteTimes };
}

test('the tenth is known as that, and the client waits until the minute is over', () => {
  const { clock, throttle, noteTimes } = start();
  expect(noteTimes(9, 'a')).not.toContain(true);
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
  const { throttle, noteTimes } = start();
  noteTimes(10, 'first');
  for (let count = 0; count < 9_999; count += 1) throttle.note(String(count));
  expect(throttle.waitOf('first')).toBe(60);
  throttle.note('one more');
  expect(throttle.waitOf('first')).toBeNull();
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
