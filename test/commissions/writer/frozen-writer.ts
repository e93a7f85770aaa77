// A foreground writer (`commissions apply --wait`) that stops itself at a given point of its work.
// Started by frozen-writer.test.ts; prints one line of JSON at its end.

import { makeApiClient } from '../../../src/api/client.ts';
import { makeTakePermit } from '../../../src/budget/shared-budget.ts';
import { awaitUpdates } from '../../../src/commissions/writer/await-updates.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { makePool } from '../../../src/db/pool.ts';
import { makeLogger } from '../../../src/log.ts';
import { type FreezePoint, freezeSelf } from '../../support/freeze-self.ts';

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
const pool = makePool(
  { log },
  { url: given.databaseUrl, schema: 'mirror', max: 6, applicationName: 'frozen writer' },
);
freezeSelf(pool, given.freeze);
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
