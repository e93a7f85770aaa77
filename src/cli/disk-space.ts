// How much the database may still grow, from where that is known: the configured limit, or the disk below the embedded
// Postgres. SQL does not know it.

import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { DiskSpace } from '../reports/read-growth.ts';

/** Returns the space; null where it is not known: the disk of somebody else's server. */
export async function readDiskSpace({
  databaseSizeLimit,
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseSizeLimit' | 'databaseUrl' | 'dataDir'>): Promise<DiskSpace | null> {
  if (databaseSizeLimit !== null) return { source: 'limit', limitBytes: databaseSizeLimit };
  if (databaseUrl !== null) return null;
  // Where root serves it, the directory is a link to another disk.
  const { bavail, bsize } = await statfs(join(dataDir, 'postgres'));
  return { source: 'file_system', freeBytes: bavail * bsize };
}
