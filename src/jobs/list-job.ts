// The source `find-commission-list`: asks the program once a day whether it lists its commissions.

import type { Database } from '../db/database.ts';
import { isListQuestionDue, type ListSetting } from '../mirror/commission-list.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { readVersion } from '../package.ts';
import { type JobSource, minutely, PRIORITY } from '../queue/job-source.ts';
import { findCommissionList } from '../sync/find-commission-list.ts';
import type { SyncDeps } from '../sync/walk.ts';

const NAME = 'find-commission-list';

/** Returns the source. Its client should try once: what was not answered is due again after some minutes. */
export function makeListSource(deps: SyncDeps, setting: ListSetting): JobSource {
  return {
    name: NAME,
    needsProgram: true,
    schedules: [],
    async findDue({ nowMs }) {
      if (!(await isDue(deps.db))) return [];
      return [
        {
          id: minutely(NAME, nowMs),
          subject: NAME,
          priority: PRIORITY.polls,
          async run({ signal }) {
            await findCommissionList(deps, { setting, isAsked: false, signal });
            return { kind: 'done' };
          },
        },
      ];
    },
  };
}

// Until something was read, nothing is asked: the address or the secret may be wrong, and a sync says so.
async function isDue(db: Database): Promise<boolean> {
  if (!(await isListQuestionDue(db, { version: readVersion(), isPatient: true }))) return false;
  return wasEverRead(db, 'affiliates');
}
