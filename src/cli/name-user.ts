// Who a command works for: the name that the payment ledger and the logs of deletions keep.

import { userInfo } from 'node:os';

/** Returns the name of this process's user, or its number where it has no name. */
export function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user that its /etc/passwd does not know.
    return `uid ${process.geteuid?.()}`;
  }
}
