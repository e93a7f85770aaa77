// A process that is stopped between its permit and its request: the permit is no longer used, and nobody waits for it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { untilFrozen } from '../support/freeze-self.ts';
import type { Spending } from './spend-budget.ts';

const USABLE_MS = 100;
const SPENDER = fileURLToPath(new URL('./spend-budget.ts', import.meta.url));
const REQUESTS = 3;
const { pool, url } = await createTestDatabase();
const sandbox = await runSandbox(pool, { seed: 1, affiliates: 5, referrals: 5 });
const db = makeDatabase(pool);
const log = makeLogger('fatal');

const running = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

test('is not used when the process wakes after its time, and the window holds no more than the limit', async () => {
  const spending: Spending = {
    databaseUrl: url,
    apiUrl: sandbox.url,
    secret: SECRET,
    // A window that outlasts the test, so that every request counts.
    rateLimit: `${REQUESTS}/600`,
    priority: 'reads',
    // Another question under way when it stops would be answered while it is stopped.
    concurrency: 1,
    usableMs: USABLE_MS,
    freeze: { after: 'take_permit', time: 1 },
  };
  const child = spawn(process.execPath, [SPENDER, JSON.stringify(spending)], { stdio: 'inherit' });
  running.add(child);
  const ended = once(child, 'exit');
  await untilFrozen(child.pid ?? 0);

  // While it is stopped others are granted what is left, and its permit runs out.
  const takePermit = makeTakePermit(
    { db, log },
    { rateLimit: { requests: REQUESTS, windowSeconds: 600 }, priority: 'reads', requestTimeoutMs: 1000 },
  );
  await pool.query(`update request_permits set expires_at = clock_timestamp()`);
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const permit = await takePermit();
    await permit.returnAnswered(null);
  }
  // Its permit's time is over by the process' own clock too.
  await sleep(2 * USABLE_MS);
  child.kill('SIGCONT');
  // It returns what it may no longer use, and waits for a permit like everybody else.
  const outdated = async () =>
    (await pool.query('select from request_permits where expires_at <= clock_timestamp()')).rows.length;
  await expect.poll(outdated).toBe(0);
  expect(sandbox.requests).toEqual([]);
  child.kill('SIGKILL');
  await ended;
});
