// Writes a small file beside the embedded Postgres. The directory may belong to somebody else than this process, which
// may be root: nothing is written through a link that lies there.

import { open, rename, rm } from 'node:fs/promises';
import type { Account } from './executables.ts';

/** Puts a file with this text, which belongs to the account, in the place of whatever is there; never half of it. */
export async function replaceFile(
  path: string,
  text: string,
  { mode, account }: { readonly mode: number; readonly account: Account },
): Promise<void> {
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  // What somebody put there in between is an error.
  const file = await open(draft, 'wx', mode);
  try {
    await file.writeFile(text);
    if (account !== null) await file.chown(account.uid, account.gid);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}
