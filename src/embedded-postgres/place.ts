// In which container the server was started. Containers that share DATA_DIR see each other's locks, and not each
// other's processes: to one of them, Postgres' own check included, the other's running server looks like one that has
// crashed. A second server on the same data would destroy them.

import { readFile, readlink } from 'node:fs/promises';
import { EmbeddedPostgresFailed } from '../errors.ts';
import type { Home } from './home.ts';
import { replaceFile } from './replace-file.ts';

/** Notes that the server is started here. To be called before it is. */
export async function notePlace({ placeFile }: Home): Promise<void> {
  await replaceFile(placeFile, `${await findPlace()}\n`, { mode: 0o644, account: null });
}

/**
 * Resolves where a server that others use was started among the processes that we see. To be called before it is looked
 * for: its number would be taken for that of another process here.
 *
 * Throws: EmbeddedPostgresFailed where it was started elsewhere.
 */
export async function refuseElsewhere({ directory, placeFile }: Home): Promise<void> {
  const place = (await readFile(placeFile, 'utf8').catch(() => '')).trim();
  if (place === '' || place === (await findPlace())) return;
  throw new EmbeddedPostgresFailed(
    `the embedded Postgres in ${directory} is used by a process in another container, whose server cannot be ` +
      'reached from here. Run this command in that container (docker exec), end the other one first, or set ' +
      'DATABASE_URL to a Postgres that both can reach.',
  );
}

/** Processes see each other where this is the same; systems without containers have none. */
async function findPlace(): Promise<string> {
  return await readlink('/proc/self/ns/pid').catch(() => 'this machine');
}
