// A foreground writer (`commissions apply --wait`) that stops itself at a given point of its work.
// Started by frozen-writer.test.ts; prints one line of JSON at its end.

import { makeApiClient } from '../../../src/api/client.ts';
import { makeLogger } from '../../../src/base/log.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { awaitUpdates } from '../../../src/payments/write/await-updates.ts';
import { type FreezePoint, freezeSelf } from '../../support/interrupt-self.ts';

export interface FrozenWriterOptions {
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly secret: string;
  readonly ids: readonly number[];
  readonly claimMs: number;
  readonly freeze: FreezePoint;
}

const given: FrozenWriterOptions = JSON.parse(process.argv[2] ?? '');
const log = makeLogger('fatal');
freezeSelf(given.freeze);
const pool = makePool(
  { log },
  { url: given.databaseUrl, schema: 'mirror', max: 6, applicationName: 'frozen writer' },
);
const db = makeDatabase(pool);
const takePermit = makeTakePermit(
  { db, log },
  { rateLimit: { requests: 1000, windowSeconds: 1 }, priority: 'payments', requestTimeoutMs: 2000 },
);
const api = makeApiClient(
  { takePermit, log },
  { url: given.apiUrl, secret: given.secret, timeoutMs: 2000, attempts: { most: 2 } },
);
const counts = await awaitUpdates({ api, db, log }, given.ids, {
  concurrency: 1,
  signal: AbortSignal.timeout(100_000),
  timing: { claimMs: given.claimMs },
});
await api.close();
await db.destroy();
process.stdout.write(`${JSON.stringify(counts)}\n`);
