// A migration whose process is stopped, and wakes up when another one has done its work.

import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS_DIRECTORY } from '../../src/db/migration-files.ts';
import { makePool } from '../../src/db/pool.ts';
import { makeLogger } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilFrozen } from '../support/freeze-self.ts';

const FROZEN = fileURLToPath(new URL('frozen-migration.ts', import.meta.url));

test('a process that was stopped before its first file keeps no other waiting, and changes nothing when it wakes', async () => {
  const schema = 'frozen';
  const database = await createTestDatabase();
  const log = makeLogger('silent');
  const pool = makePool({ log }, { url: database.url, schema, max: 1, applicationName: 'test' });
  onTestFinished(() => pool.end());
  const child = spawn(process.execPath, [FROZEN, database.url, schema], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(child.stdout);
  try {
    await untilFrozen(child.pid ?? 0);
    expect((await runMigrations(pool, { schema })).applied).toEqual(
      (await readdir(MIGRATIONS_DIRECTORY)).toSorted(),
    );
    child.kill('SIGCONT');
    expect(await printed).toMatch(/idle-session timeout|connection/i);
  } finally {
    child.kill('SIGKILL');
  }
  // What the next user of the connection finds.
  const { rows } = await pool.query('show idle_session_timeout');
  expect(rows).toEqual([{ idle_session_timeout: '0' }]);
});
