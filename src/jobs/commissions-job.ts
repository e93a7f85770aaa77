// The job `write-commissions`: empties the outbox of commission updates, woken by whoever fills it. What a request is
// and how it is applied is in src/commissions.

import { type DrainDeps, type DrainOptions, drainUpdates } from '../commissions/drain-updates.ts';
import { COMMISSION_UPDATES_CHANNEL } from '../commissions/request-updates.ts';
import { describeError } from '../errors.ts';
import type { ConnectionPool } from '../queue/connection-pool.ts';
import { listen } from '../queue/listen.ts';
import type { JobHandler } from '../queue/process-job.ts';
import type { RunningWorker } from '../queue/start-worker.ts';
import { WRITE_COMMISSIONS } from './catalogue.ts';

/** Returns the handler. Requests that must wait are left to the sweep. */
export function makeCommissionsJob(
  deps: DrainDeps,
  options: Pick<DrainOptions, 'concurrency' | 'timing'>,
): JobHandler {
  return async (_row, { signal }) => ({
    kind: 'done',
    result: await drainUpdates(deps, { ...options, signal }),
  });
}

/** Has the outbox emptied whenever something was put into it, until the signal aborts. */
export async function wakeForCommissions(
  { worker, pool, log }: { worker: RunningWorker; pool: ConnectionPool } & Pick<DrainDeps, 'log'>,
  { mirrorSchema }: { mirrorSchema: string },
  signal: AbortSignal,
): Promise<void> {
  const onHeard = () => {
    worker.want([WRITE_COMMISSIONS]).catch((error: unknown) => {
      // The sweep finds what was asked for.
      log.warn({ reason: describeError(error) }, 'commissions.not_woken');
    });
  };
  await listen(
    { pool, log },
    { channel: COMMISSION_UPDATES_CHANNEL, payload: mirrorSchema, onHeard },
    signal,
  );
}
