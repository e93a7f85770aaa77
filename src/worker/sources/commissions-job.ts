// The source `write-commissions`: applies pending payment requests (src/payments).

import { describeError } from '../../base/describe-error.ts';
import { ApiRejected } from '../../base/errors.ts';
import { applyUpdates, type WriterDeps, type WriterOptions } from '../../payments/write/apply-updates.ts';
import { hasDueUpdates } from '../../payments/write/claims.ts';
import { makePayoutsUnderWay } from '../../payments/write/payouts-under-way.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';

/** While a proxy answers in place of the API: the backoff of a job would grow to more than payments should wait. */
const AWAY_MS = 60_000;

/** Returns the source. Requests that must wait are due once their time has come. */
export function makeCommissionsSource(
  deps: WriterDeps,
  options: Pick<WriterOptions, 'concurrency' | 'timing'>,
): JobSource {
  const writerDeps = { ...deps, underWay: makePayoutsUnderWay(deps) };
  return makeSingleSource({
    name: 'write-commissions',
    priority: PRIORITY.payments,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue: hasDueUpdates,
    async run({ signal }) {
      try {
        await applyUpdates(writerDeps, { ...options, signal });
        return { kind: 'done' };
      } catch (error) {
        if (!(error instanceof ApiRejected) || error.isOfProgram) throw error;
        deps.log.warn({ reason: describeError(error) }, 'commissions.program_down');
        return { kind: 'later', waitMs: AWAY_MS };
      }
    },
  });
}
