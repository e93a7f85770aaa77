// The job `poll-commissions`: asks the program for the known commissions that are due. Which those are, and what an
// answer means, is in src/commissions.

import type { ApiClient } from '../api/client.ts';
import { pollTracked } from '../commissions/tracked-commissions.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { JobHandler } from '../queue/process-job.ts';

export interface PollJobDeps {
  /** With the priority of reads: a payment never waits for a poll. */
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
}

/** One after the other: no poll is urgent, and a sync may be under way beside them. */
const POLLS_IN_FLIGHT = 1;

/** Returns the handler. What was not answered is asked for again at a later tick. */
export function makePollJob({ api, db, log }: PollJobDeps): JobHandler {
  return async (_row, { signal }) => ({
    kind: 'done',
    result: await pollTracked({ client: api, db, log }, { concurrency: POLLS_IN_FLIGHT, signal }),
  });
}
