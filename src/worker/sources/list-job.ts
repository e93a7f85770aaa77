// The source `find-optional-lists`: asks the API once a day which of the optional lists it has.

import { readVersion } from '../../base/package.ts';
import type { ListSettings } from '../../config/program/optional-lists.ts';
import type { Database } from '../../db/database.ts';
import { findDueLists } from '../../mirror/optional-lists.ts';
import { wasEverRead } from '../../mirror/runs/whole-runs.ts';
import { findOptionalLists } from '../../sync/find-optional-lists.ts';
import type { SyncDeps } from '../../sync/open-run.ts';
import { type JobSource, MINUTE_MS, makeSingleSource, PRIORITY } from '../queue/job-source.ts';

/** Returns the source. Its client should try once: a list that was not answered is due again after some minutes. */
export function makeListsSource(deps: SyncDeps, settings: ListSettings): JobSource {
  return makeSingleSource({
    name: 'find-optional-lists',
    priority: PRIORITY.polls,
    needsProgram: true,
    againAfterMs: MINUTE_MS,
    isDue,
    async run({ signal }) {
      await findOptionalLists(deps, { settings, signal });
      return { kind: 'done' };
    },
  });
}

// Until something was read, nothing is asked: the address or the secret may be wrong, and a sync says so.
async function isDue(db: Database): Promise<boolean> {
  const due = await findDueLists(db, { version: readVersion(), isPatient: true });
  return due.length > 0 && wasEverRead(db, 'affiliates');
}
