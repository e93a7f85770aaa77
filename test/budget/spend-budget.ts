// A process that does nothing but send requests, each with a permit of the shared budget, until SIGTERM.
// Started by shared-budget.test.ts; prints a line with its first answer.

import { setTimeout as sleep } from 'node:timers/promises';
import { makeApiClient } from '../../src/api/client.ts';
import { makeLogger } from '../../src/base/log.ts';
import { makeTakePermit } from '../../src/budget/shared-budget.ts';
import type { Priority } from '../../src/budget/waits.ts';
import { readRateLimit } from '../../src/config/program/rate-limit.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { type FreezePoint, freezeSelf } from '../support/interrupt-self.ts';

export interface Spending {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly secret: string;
  readonly rateLimit: string;
  readonly priority: Priority;
  /** Requests at once; 4 if left out. */
  readonly concurrency?: number;
  /** Where it stops itself, once; nowhere if left out. */
  readonly freeze?: FreezePoint;
  readonly usableMs?: number;
}

const given: Spending = JSON.parse(process.argv[2] ?? '');
const log = makeLogger('warn');
const pool = makePool(
  { log },
  { url: given.databaseUrl, schema: 'mirror', max: 2, applicationName: 'spender' },
);
if (given.freeze !== undefined) freezeSelf(given.freeze);
const db = makeDatabase(pool);
const takePermit = makeTakePermit(
  { db, log },
  {
    rateLimit: readRateLimit(given.rateLimit) ?? null,
    priority: given.priority,
    requestTimeoutMs: 5000,
    ...(given.usableMs !== undefined && { usableMs: given.usableMs }),
  },
);
let hasAnswer = false;
const api = makeApiClient(
  {
    takePermit,
    log,
    onRequest: ({ status }) => {
      if (status === 200 && !hasAnswer) process.stdout.write('answered\n');
      hasAnswer ||= status === 200;
    },
  },
  { url: given.apiUrl, secret: given.secret, timeoutMs: 5000 },
);
const stopping = new AbortController();
const stop = stopping.signal;
process.once('SIGTERM', () => stopping.abort());

async function spend(): Promise<void> {
  while (!stop.aborted) await api.list('affiliates', { page: 1, limit: 1 }, { signal: stop });
}

await Promise.all(Array.from({ length: given.concurrency ?? 4 }, spend)).catch((error: unknown) => {
  if (!stop.aborted) throw error;
});
// Permits that an abort left in flight are returned before the pool closes.
await sleep(50);
await api.close();
await db.destroy();
