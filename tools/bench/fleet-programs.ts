// The programs of a fleet: their names, their schemas in one database, and the PROGRAMS_FILE that lists them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runMigrations } from '../../src/db/migrate/migrate.ts';
import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { type BenchDatabase, SCHEMA } from './bench-database.ts';
import { makeDirectory } from './start-child.ts';

/** Returns the names of so many programs; those of fewer are the first of them. */
export function nameFleet(programs: number): readonly string[] {
  return Array.from({ length: programs }, (_, number) => `p${number}`);
}

/** Makes the schema of each, and that of the queue, as `migrate` does; returns how long that took. Units: ms. */
export async function migrateFleet({ pool, url }: BenchDatabase, names: readonly string[]): Promise<number> {
  const beganMs = performance.now();
  for (const name of names) {
    const schema = `${SCHEMA}_${name}`;
    await runMigrations(pool.shared.of(schema), { schema });
  }
  await migrateQueue(pool, { redisUrl: null, mirrorSchema: SCHEMA, databaseUrl: url });
  return performance.now() - beganMs;
}

/** Returns the environment of a command that works on the programs. Each has been due for a full sync since now. */
export async function listFleet(
  cleanup: AsyncDisposableStack,
  { url, names, rateLimit }: { url: string; names: readonly string[]; rateLimit: string },
): Promise<Readonly<Record<string, string>>> {
  const now = new Date();
  const cron = [
    now.getUTCSeconds(),
    now.getUTCMinutes(),
    now.getUTCHours(),
    now.getUTCDate(),
    now.getUTCMonth() + 1,
    '*',
  ].join(' ');
  const programs = names.map(
    (name) => `  ${name}:
    url: ${url}/${name}
    secret_env: BENCH_SECRET
    rate_limit: ${rateLimit}
    full_cron: '${cron}'
    delta_cron: ''
    timezone: UTC
    optional_lists: none
`,
  );
  const file = join(makeDirectory(cleanup, 'affiliate-mirror-bench-programs-'), 'programs.yaml');
  await writeFile(file, `programs:\n${programs.join('')}`);
  return { PROGRAMS_FILE: file, BENCH_SECRET: 'bench' };
}
