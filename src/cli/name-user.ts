// The user of a command, for the payment ledger and the log of deletions.

import { userInfo } from 'node:os';

/** Returns the name of this process's user, or its number if it has no name. */
export function nameUser(): string {
  try {
    return userInfo().username;
  } catch {
    // The user of a container may be missing in its /etc/passwd.
    return `uid ${process.geteuid?.()}`;
  }
}
