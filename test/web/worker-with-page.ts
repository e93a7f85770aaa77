// The command `work` with its page below a path, on a small program that it reads every two seconds.

import { migrateQueue } from '../../src/worker/queue/queue-tables.ts';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { type CommandWorker, startCommandWorker } from '../support/command-worker.ts';
import { createTestDatabase } from '../support/database.ts';

/** Below which path the pages are. */
export const BASE_PATH = '/affiliates';

/** Returns the worker, which ends with the test. Without a password in the environment, the page needs none. */
export async function startWorkerWithPage(
  environment: Readonly<Record<string, string>>,
): Promise<CommandWorker> {
  const program = await createTestDatabase();
  const sandbox = await runSandbox(program.pool, { affiliates: 5, referrals: 20 });
  const database = await createTestDatabase();
  await migrateQueue(database.pool, { redisUrl: null, databaseUrl: database.url, mirrorSchema: 'mirror' });
  return await startCommandWorker({
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    STATUS_BASE_PATH: BASE_PATH,
    ...environment,
  });
}
