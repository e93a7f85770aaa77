// How much the database may still grow: by the configured limit, or by the disk of the embedded Postgres. SQL does not
// know it.

import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessConfig } from '../config/config.ts';
import type { DiskSpace } from '../reports/read-growth.ts';

/** Returns the space; null if it is not known, as of another machine's disk. */
export async function readDiskSpace({
  databaseSizeLimit,
  databaseUrl,
  dataDir,
}: Pick<ProcessConfig, 'databaseSizeLimit' | 'databaseUrl' | 'dataDir'>): Promise<DiskSpace | null> {
  if (databaseSizeLimit !== null) return { source: 'limit', limitBytes: databaseSizeLimit };
  if (databaseUrl !== null) return null;
  // If root serves it, the directory is a link to another disk.
  const { bavail, bsize } = await statfs(join(dataDir, 'postgres'));
  return { source: 'file_system', freeBytes: bavail * bsize };
}
