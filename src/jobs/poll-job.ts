// The job `poll-commissions`: asks for the known commissions whose turn it is. Knows when to look; whose turn it is, and
// what an answer means, is the commissions room's.

import type { ApiClient } from '../api/client.ts';
import { pollTracked } from '../commissions/tracked-commissions.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { JobHandler } from '../queue/process-job.ts';

export interface PollJobDeps {
  /** In the readers' lane: a payment never waits for a poll. */
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
}

/** One after the other: no poll is urgent, and a sync may be under way beside them. */
const POLLS_IN_FLIGHT = 1;

/** Gives back the handler. What was not answered is left to a later tick. */
export function makePollJob({ api, db, log }: PollJobDeps): JobHandler {
  return async (_row, { signal }) => ({
    kind: 'done',
    result: await pollTracked({ client: api, db, log }, { concurrency: POLLS_IN_FLIGHT, signal }),
  });
}
