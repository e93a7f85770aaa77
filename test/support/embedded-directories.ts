// Data directories for tests of the embedded Postgres, removed with what still runs in them.

import { chmod, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { makeServerDirectory } from './server-directory.ts';

/** Returns a new directory that every user may enter, as DATA_DIR's parents usually are. */
export async function makeDataDir(): Promise<string> {
  const directory = await makeServerDirectory('affiliate-mirror-embedded-');
  await chmod(directory, 0o755);
  return directory;
}

/** Stops what still runs there, so that a failed test leaves no server, and removes the files. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const home = await realpath(join(dataDir, 'postgres')).catch(() => dataDir);
  for (const directory of new Set([home, dataDir])) {
    for (const { pid } of await findProcesses(directory)) process.kill(pid, 'SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Returns the processes started for something below the directory; none where there is no /proc to ask. */
export async function findProcesses(directory: string): Promise<{ pid: number }[]> {
  const found: { pid: number }[] = [];
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const isBelow = commandLine.split('\0').some((argument) => argument.startsWith(`${directory}/`));
    if (isBelow) found.push({ pid: Number(name) });
  }
  return found;
}

/** Returns the rows of one statement, over a connection of its own. */
export async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
