// The source `poll-commissions`: asks the program for the known commissions that are due, where it does not list them.
// Which those are, and what an answer means, is in src/commissions.

import type { ApiClient } from '../api/client.ts';
import { hasDuePolls, pollTracked } from '../commissions/tracking/tracked-commissions.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { readUsedLists } from '../mirror/optional-lists.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';
import type { Treatment } from '../records/treatment.ts';

export interface PollSourceDeps {
  /** With the priority of reads: a payment never waits for a poll. */
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  readonly treatment?: Treatment;
}

/** One after the other: no poll is urgent, and a sync may be under way beside them. */
const POLLS_IN_FLIGHT = 1;
/** Where the program answered none of the last ones, the others wait for this long. */
const UNANSWERED_MS = 60_000;

/** Returns the source. What was not answered is due again later. */
export function makePollSource({ api, db, log, treatment }: PollSourceDeps): JobSource {
  return makeSingleSource({
    name: 'poll-commissions',
    priority: PRIORITY.polls,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue: async () => (await hasDuePolls(db)) && !(await isListed(db)),
    async run({ signal }) {
      const options = { concurrency: POLLS_IN_FLIGHT, signal };
      const { failed } = await pollTracked({ client: api, db, log, treatment }, options);
      const isLeft = failed > 0 && (await hasDuePolls(db));
      return isLeft ? { kind: 'later', waitMs: UNANSWERED_MS } : { kind: 'done' };
    },
  });
}

// Where syncs read every commission, known ones need not be asked for one by one.
async function isListed(db: Database): Promise<boolean> {
  return (await readUsedLists(db)).includes('commissions') && (await wasEverRead(db, 'commissions'));
}
