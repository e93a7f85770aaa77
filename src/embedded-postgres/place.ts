// In which container the server was started. Containers that share DATA_DIR see each other's locks, and not each
// other's processes: to one of them, Postgres' own check included, the other's running server looks like one that has
// crashed. A second server on the same data would destroy them.

import { readlink } from 'node:fs/promises';

/** Given to the server at its start: Postgres keeps it beside its data. */
export const PLACE_SETTING = 'affiliate_mirror.place';

/** Returns the same word for all processes that see each other; systems without containers have one. */
export async function findPlace(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return /\d+/.exec(namespace)?.[0] ?? 'machine';
}
