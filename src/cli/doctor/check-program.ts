// The checks of one program's API, for `doctor`.

import { makeApiClient } from '../../api/client.ts';
import type { TakePermit } from '../../api/permit.ts';
import type { ProgramAddress } from '../../config/config.ts';
import { OPTIONAL_LISTS } from '../../contract/optional-lists.ts';
import { readOptionalLists } from '../../reports/read-health.ts';
import { askForProbe } from '../../worker/queue/worker-state.ts';
import { ONCE } from '../connect-program.ts';
import type { Program } from '../program.ts';
import { describeList } from '../status/sections.ts';
import { makeFindLists } from '../sync/find-lists.ts';
import { checkAccount, type Report } from './checks.ts';

export const SETTINGS = 'program settings';

/** Checks the API: its address and secret, its account, and its optional lists. */
export async function checkProgram(
  readAddress: () => ProgramAddress,
  program: Program | null,
  tables: TakePermit | null,
  { check, leaveOut }: Report,
): Promise<void> {
  const address = await check(SETTINGS, async () => {
    const found = readAddress();
    return { found, says: found.url };
  });
  if (address === null) return leaveOut(['program'], 'its settings are missing');
  if (program === null) {
    return leaveOut(['program'], 'the database, which keeps its request budget, does not answer');
  }
  const { db, log, lifetime, timeoutMs } = program;
  const api = makeApiClient(
    { takePermit: tables ?? takeOnlyPermit, log },
    { ...address, timeoutMs, attempts: ONCE },
  );
  lifetime.onClose(() => api.close());
  const mirror = tables && db;
  const accepted = await check('program', () => checkAccount({ api, db: mirror }, address.url, lifetime));
  if (accepted === null || mirror === null) return;

  await askForProbe(db);
  const { problems } = await makeFindLists(program, api)(OPTIONAL_LISTS);
  const { rows } = await readOptionalLists(program);
  for (const list of rows) {
    const { resource } = list;
    const problem = problems.get(resource);
    if (problem !== undefined && list.is_used) {
      leaveOut([resource], `the API does not say whether it lists them: ${problem.message}`);
      continue;
    }
    await check(resource, async () => {
      // A sync would leave them out, and end with 3.
      if (problem !== undefined) throw problem;
      return { found: true, says: describeList(list) };
    });
  }
}

// Without tables there is no shared budget, and no process that shares it.
const takeOnlyPermit: TakePermit = async () => {
  const now = new Date().toISOString();
  return {
    grantedAt: now,
    isUsable: () => true,
    returnAnswered: async () => now,
    returnUnused: async () => {},
  };
};
