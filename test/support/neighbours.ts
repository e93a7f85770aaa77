// Further schemas in the database of a test, each a mirror as that of the first program.

import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { afterFile } from './after-file.ts';
import type { TestDatabase } from './database.ts';

/** Returns the schema, empty and migrated, with a pool of its own. */
export async function addNeighbour({ url }: TestDatabase, schema: string): Promise<TestDatabase> {
  const pool = makePool(
    { log: makeLogger('fatal') },
    { url, schema, max: 3, applicationName: `test ${schema}` },
  );
  afterFile(() => pool.end());
  await runMigrations(pool, { schema });
  return { url, pool, db: makeDatabase(pool) };
}
