// The source `find-commission-list`: asks the program once a day whether it lists its commissions.

import type { Database } from '../db/database.ts';
import { isListQuestionDue, type ListSetting } from '../mirror/commission-list.ts';
import { wasEverRead } from '../mirror/runs/whole-runs.ts';
import { readVersion } from '../package.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';
import { findCommissionList } from '../sync/find-commission-list.ts';
import type { SyncDeps } from '../sync/walk.ts';

/** Returns the source. Its client should try once: what was not answered is due again after some minutes. */
export function makeListSource(deps: SyncDeps, setting: ListSetting): JobSource {
  return makeSingleSource({
    name: 'find-commission-list',
    priority: PRIORITY.polls,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue: () => isDue(deps.db),
    async run({ signal }) {
      await findCommissionList(deps, { setting, isAsked: false, signal });
      return { kind: 'done' };
    },
  });
}

// Until something was read, nothing is asked: the address or the secret may be wrong, and a sync says so.
async function isDue(db: Database): Promise<boolean> {
  if (!(await isListQuestionDue(db, { version: readVersion(), isPatient: true }))) return false;
  return wasEverRead(db, 'affiliates');
}
