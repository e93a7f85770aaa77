// Wrong passwords are counted by client, for a while, and of a bounded number of clients.

import { expect, test } from 'vitest';
import { clientOf, makeAttempts } from '../../src/web/access.ts';

function start() {
  const clock = { ms: 0 };
  const attempts = makeAttempts(() => clock.ms);
  const noteTimes = (times: number, address: string) =>
    Array.from({ length: times }, () => attempts.note(address));
  return { clock, attempts, noteTimes };
}

test('the tenth is known as that, and the client waits until the minute is over', () => {
  const { clock, attempts, noteTimes } = start();
  expect(noteTimes(9, 'a')).not.toContain(true);
  expect(attempts.waitOf('a')).toBeNull();
  clock.ms = 20_500;
  expect(attempts.note('a')).toBe(true);
  expect(attempts.waitOf('a')).toBe(40);
  expect(attempts.waitOf('b')).toBeNull();
  clock.ms = 59_999;
  expect(attempts.waitOf('a')).toBe(1);
  clock.ms = 60_000;
  expect(attempts.waitOf('a')).toBeNull();
  expect(attempts.note('a')).toBe(false);
});

test('of more clients than are kept, the first is forgotten', () => {
  const { attempts, noteTimes } = start();
  noteTimes(10, 'first');
  for (let count = 0; count < 9_999; count += 1) attempts.note(String(count));
  expect(attempts.waitOf('first')).toBe(60);
  attempts.note('one more');
  expect(attempts.waitOf('first')).toBeNull();
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
