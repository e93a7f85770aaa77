// The duty `poll-commissions`: asks the program for the known commissions that are due, where it does not list them.
// Which those are, and what an answer means, is in src/commissions.

import type { ApiClient } from '../api/client.ts';
import { hasDuePolls, pollTracked } from '../commissions/tracking/tracked-commissions.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { isCommissionListUsed } from '../mirror/commission-list.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { type Duty, minutely } from '../queue/duty.ts';
import type { Treatment } from '../records/treatment.ts';

export interface PollDutyDeps {
  /** With the priority of reads: a payment never waits for a poll. */
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  readonly treatment?: Treatment;
}

const NAME = 'poll-commissions';
/** One after the other: no poll is urgent, and a sync may be under way beside them. */
const POLLS_IN_FLIGHT = 1;
/** Where the program answered none of the last ones, the others wait for this long. */
const UNANSWERED_MS = 60_000;

/** Returns the duty. What was not answered is due again later. */
export function makePollDuty({ api, db, log, treatment }: PollDutyDeps): Duty {
  return {
    name: NAME,
    alarms: [],
    async findDue({ nowMs }) {
      if (!(await hasDuePolls(db)) || (await isListed(db))) return [];
      return [
        {
          id: minutely(NAME, nowMs),
          atMs: nowMs,
          async run({ signal }) {
            const options = { concurrency: POLLS_IN_FLIGHT, signal };
            const { failed } = await pollTracked({ client: api, db, log, treatment }, options);
            const isLeft = failed > 0 && (await hasDuePolls(db));
            return isLeft ? { kind: 'later', waitMs: UNANSWERED_MS } : { kind: 'done' };
          },
        },
      ];
    },
  };
}

// Where syncs read every commission, known ones need not be asked for one by one.
async function isListed(db: Database): Promise<boolean> {
  return (await isCommissionListUsed(db)) && (await wasEverRead(db, 'commissions'));
}
