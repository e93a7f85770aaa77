// Who is written into the payment ledger as the one who asked.

import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { nameUser } from '../../src/cli/name-user.ts';

test('it is the user by name', () => {
  expect(nameUser()).toBe(userInfo().username);
});

// Only root can become a user that nobody has named.
if (process.getuid?.() === 0) {
  test('it is the number of a user who has no name, as in some containers', () => {
    process.seteuid?.(54_321);
    try {
      expect(nameUser()).toBe('uid 54321');
    } finally {
      process.seteuid?.(0);
    }
  });
}
