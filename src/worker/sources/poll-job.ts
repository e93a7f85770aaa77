// The source `poll-commissions`: reads tracked commissions that are due, if the API does not list commissions
// (src/payments/poll).

import type { ApiClient } from '../../api/client.ts';
import type { Logger } from '../../base/log.ts';
import type { Database } from '../../db/database.ts';
import type { Treatment } from '../../decode/treatment.ts';
import { readUsedLists } from '../../mirror/optional-lists.ts';
import { wasEverRead } from '../../mirror/runs/whole-runs.ts';
import { hasDuePolls, pollTracked } from '../../payments/poll/tracked-commissions.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';

export interface PollSourceDeps {
  /** With the priority of reads: a payment never waits for a poll. */
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  readonly treatment?: Treatment;
}

/** The wait after polls that the API did not answer. */
const UNANSWERED_MS = 60_000;

/** Returns the source. A commission that was not answered is due again later. */
export function makePollSource({ api, db, log, treatment }: PollSourceDeps): JobSource {
  return makeSingleSource({
    name: 'poll-commissions',
    priority: PRIORITY.polls,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue: async (asked) => (await hasDuePolls(asked)) && !(await isListed(asked)),
    async run({ signal }) {
      const { failed } = await pollTracked({ client: api, db, log, treatment }, { signal });
      const isLeft = failed > 0 && (await hasDuePolls(db));
      return isLeft ? { kind: 'later', waitMs: UNANSWERED_MS } : { kind: 'done' };
    },
  });
}

// If syncs read every commission, tracked ones need not be read one by one.
async function isListed(db: Database): Promise<boolean> {
  return (await readUsedLists(db)).includes('commissions') && (await wasEverRead(db, 'commissions'));
}
