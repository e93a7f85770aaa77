// Commands whose output cannot be written: they do their work, and their exit code says how that ended.

import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { spawnCli } from '../support/run-cli.ts';

/** A device that is always full; of Linux. */
const FULL = '/dev/full';

let mirror: TestDatabase;
let environment: Record<string, string>;

beforeAll(async () => {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 5, referrals: 20 });
  mirror = await createTestDatabase();
  environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  };
});

/** Returns the exit code, and what was said on stderr, of a command whose stdout nobody reads. */
async function runUnread(args: readonly string[], more: Record<string, string> = {}) {
  const child = spawnCli(args, { ...environment, ...more });
  child.stdout.destroy();
  const ended = once(child, 'close');
  const said = await text(child.stderr);
  const [code] = await ended;
  return { code, said };
}

describe('a command whose stdout nobody reads', () => {
  test('ends quietly where it succeeds, with its work done', async () => {
    const { code, said } = await runUnread(['sync', 'affiliates', '--json'], { LOG_LEVEL: 'warn' });
    expect({ code, said }).toEqual({ code: 0, said: '' });
    const { rows } = await mirror.pool.query('select count(*) from affiliates');
    expect(rows).toEqual([{ count: 5 }]);
  });

  test('says why it failed, with the exit code of that', async () => {
    const refused = await runUnread(['sync', 'affiliates', '--json'], { AFFILIATE_API_SECRET: 'wrong' });
    expect(refused.code).toBe(1);
    expect(refused.said).toContain('affiliate-mirror: the API refused the secret');
  });

  test('is an export that fails, since nobody has it', async () => {
    const args = ['export', 'mirror.affiliates', '--format', 'csv', '-o', '-'];
    expect(await runUnread(args, { LOG_LEVEL: 'warn' })).toEqual({
      code: 1,
      said: 'affiliate-mirror: cannot write stdout: its reader ended before everything was written\n',
    });
  });
});

describe('a full disk', () => {
  test('under the output is said in one line, and is a failure', async () => {
    const args = ['export', 'mirror.campaigns', '--format', 'csv', '-o', '-'];
    const full = openSync(FULL, 'w');
    const child = spawnCli(args, { ...environment, LOG_LEVEL: 'warn' }, ['ignore', full, 'pipe']);
    closeSync(full);
    const ended = once(child, 'close');
    const said = child.stderr === null ? '' : await text(child.stderr);
    expect((await ended)[0]).toBe(1);
    expect(said).toMatch(/^affiliate-mirror: the output cannot be written: ENOSPC[^\n]*\n$/);
  });

  test('under the log stops no sync', async () => {
    const full = openSync(FULL, 'w');
    const child = spawnCli(['sync', 'referrals', '--json'], environment, ['ignore', 'pipe', full]);
    closeSync(full);
    const ended = once(child, 'close');
    const answer = child.stdout === null ? '' : await text(child.stdout);
    expect((await ended)[0]).toBe(0);
    expect(JSON.parse(answer).runs).toMatchObject([{ resource: 'referrals', state: 'succeeded' }]);
  });
});
