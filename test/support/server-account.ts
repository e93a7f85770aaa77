import { readFile } from 'node:fs/promises';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Returns whom to run a server as that refuses to run as root; null where we are not root. */
export async function findServerAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid === undefined || gid === undefined) throw new Error('no account to run a server as');
  return { uid: Number(uid), gid: Number(gid) };
}
