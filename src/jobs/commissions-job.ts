// The source `write-commissions`: empties the outbox of commission updates, woken by whoever fills it. What a request
// is and how it is applied is in src/commissions.

import { COMMISSION_UPDATES_CHANNEL } from '../commissions/requests/request-updates.ts';
import { hasDueUpdates } from '../commissions/writer/claims.ts';
import { type DrainDeps, type DrainOptions, drainUpdates } from '../commissions/writer/drain-updates.ts';
import { describeError } from '../describe-error.ts';
import { ApiRejected } from '../errors.ts';
import type { ConnectionPool } from '../queue/connection-pool.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';
import { listen } from '../queue/listen.ts';
import type { RunningWorker } from '../queue/start-worker.ts';

/** Where something in front of the program answers for it: a job's own waits grow to more than payments should wait. */
const AWAY_MS = 60_000;

/** Returns the source. Requests that must wait are due once their time has come. */
export function makeCommissionsSource(
  deps: DrainDeps,
  options: Pick<DrainOptions, 'concurrency' | 'timing'>,
): JobSource {
  return makeSingleSource({
    name: 'write-commissions',
    priority: PRIORITY.payments,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue: () => hasDueUpdates(deps.db),
    async run({ signal }) {
      try {
        await drainUpdates(deps, { ...options, signal });
        return { kind: 'done' };
      } catch (error) {
        if (!(error instanceof ApiRejected) || error.isOfProgram) throw error;
        deps.log.warn({ reason: describeError(error) }, 'commissions.program_down');
        return { kind: 'later', waitMs: AWAY_MS };
      }
    },
  });
}

/** Has the worker look whenever something was put into the outbox, until the signal aborts. */
export async function wakeForCommissions(
  { worker, pool, log }: { worker: RunningWorker; pool: ConnectionPool } & Pick<DrainDeps, 'log'>,
  { mirrorSchema }: { mirrorSchema: string },
  signal: AbortSignal,
): Promise<void> {
  const input = { channel: COMMISSION_UPDATES_CHANNEL, payload: mirrorSchema, onHeard: worker.lookNow };
  await listen({ pool, log }, input, signal);
}
