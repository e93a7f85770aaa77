// Finds out whether the program lists its commissions, by one request: an envelope means that it does. 404 or 410
// means that it does not, if the program then lists affiliates, and answers so once more. Any other answer decides
// nothing, and the question is asked again later.
//
// A load balancer that has lost the program behind it says 404 to everything, and may find it again right after that:
// believed then, commissions would not be synced for a day.

import type { ApiClient } from '../api/client.ts';
import { isNotFound } from '../api/refusal.ts';
import type { ListedResource } from '../contract/resources.ts';
import { storableText } from '../db/storable.ts';
import { describeError } from '../describe-error.ts';
import { AppError } from '../errors.ts';
import {
  isCommissionListUsed,
  isListQuestionDue,
  type ListSetting,
  noteListSetting,
  saveListAnswer,
  saveListProblem,
} from '../mirror/commission-list.ts';
import { readVersion } from '../package.ts';
import type { SyncDeps } from './walk.ts';

export interface FoundList {
  /** Whether commissions are mirrored by their list. */
  readonly isUsed: boolean;
  /** What kept the program from being asked with success just now; null where it was not asked, or answered. */
  readonly problem: AppError | null;
}

/**
 * Returns what is known, after asking the program where that is due, or `isAsked` whenever the setting leaves it to the
 * program. Its client should try once.
 *
 * Throws: the signal's reason; the database's errors.
 */
export async function findCommissionList(
  { db, ...deps }: SyncDeps,
  { setting, isAsked, signal }: { setting: ListSetting; isAsked: boolean; signal: AbortSignal | undefined },
): Promise<FoundList> {
  await noteListSetting(db, setting);
  const version = readVersion();
  const isDue = isAsked ? setting === 'auto' : await isListQuestionDue(db, { version, isPatient: false });
  const problem = isDue ? await ask({ db, ...deps }, { version, signal }) : null;
  return { isUsed: await isCommissionListUsed(db), problem };
}

async function ask(
  { api, db, log }: SyncDeps,
  { version, signal }: { version: string; signal: AbortSignal | undefined },
): Promise<AppError | null> {
  let isServed: boolean;
  try {
    isServed = await isListed(api, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof AppError) || error.code.startsWith('DB_')) throw error;
    const problem = storableText(describeError(error));
    log.warn({ reason: problem }, 'commissions.list_unknown');
    await saveListProblem(db, problem);
    return error;
  }
  await saveListAnswer(db, { isServed, version });
  log.info({ is_served: isServed }, 'commissions.list_found');
  return null;
}

async function isListed(api: ApiClient, signal: AbortSignal | undefined): Promise<boolean> {
  const list = (resource: ListedResource) => api.list(resource, { page: 1, limit: 1 }, signal && { signal });
  const isThere = () =>
    list('commissions').then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  if (await isThere()) return true;
  // A wrong address answers 404 to everything.
  await list('affiliates');
  return await isThere();
}
