// The programs of a fleet: their names, and the PROGRAMS_FILE that lists them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from './start-child.ts';

/** Returns the names of so many programs; those of fewer are the first of them. */
export function nameFleet(programs: number): readonly string[] {
  return Array.from({ length: programs }, (_, number) => `p${number}`);
}

export interface ListedFleet {
  /** Of the page server. */
  readonly programUrl: string;
  readonly names: readonly string[];
  readonly rateLimit: string;
}

/** Returns the environment of a command that works on the programs. Each is due for a full sync once a year. */
export async function listFleet(
  cleanup: AsyncDisposableStack,
  { programUrl, names, rateLimit }: ListedFleet,
  due: Date,
): Promise<Readonly<Record<string, string>>> {
  const time = `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()}`;
  const cron = `${time} ${due.getUTCDate()} ${due.getUTCMonth() + 1} *`;
  const programs = names.map(
    (name) => `  ${name}:
    url: ${programUrl}/${name}
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
