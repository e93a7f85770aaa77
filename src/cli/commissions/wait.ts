// Waits until requests have ended, and where that is cut short says what became of them: those that have not ended stay
// queued, and a later command applies them.

import { countStates } from '../../commissions/select-requests.ts';
import { awaitUpdates, type StateCounts } from '../../commissions/writer/await-updates.ts';
import { Stopped } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { describeCounts } from './listings.ts';
import { makeBatchProgress } from './progress.ts';
import type { ProgramSession } from './session.ts';

/**
 * Returns how the requests ended, after showing how far they come. `what` is what `commissions cancel` calls them; null
 * where they have no name in common.
 *
 * Throws: what `awaitUpdates` throws, after saying on stderr how far they came; Stopped, which says it itself.
 */
export async function waitFor(
  session: ProgramSession,
  ids: readonly number[],
  what: string | null,
): Promise<StateCounts> {
  const progress = makeBatchProgress(ids.length, session);
  const waiting = awaitUpdates(session, ids, {
    concurrency: session.concurrency,
    signal: session.signal,
    onProgress: progress.show,
  });
  try {
    return await waiting.finally(() => progress.finish());
  } catch (error) {
    const reached = await describeReached(session, ids, what);
    if (error instanceof Stopped) throw error.saying(reached);
    printError(what === null ? reached : `${what}: ${reached}`);
    throw error;
  }
}

async function describeReached(
  { db }: ProgramSession,
  ids: readonly number[],
  what: string | null,
): Promise<string> {
  // What ended the waiting may be the database, and is the error to report.
  const counts = await countStates(db, ids).catch(() => null);
  const reached = counts === null ? 'how far they came cannot be read now' : describeCounts(counts);
  if (counts !== null && counts.pending === undefined) return reached;
  const cancel =
    what === null ? '' : `; affiliate-mirror commissions cancel ${what} takes back what was not sent yet`;
  return `${reached}; what is pending stays queued: the next command with --wait goes on there, and so does a running worker${cancel}`;
}
