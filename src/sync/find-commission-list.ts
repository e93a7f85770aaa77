// Finds out whether the program lists its commissions, by one request: an envelope means that it does, 404 that it does
// not. Any other answer decides nothing, and the question is asked again later.

import { storableText } from '../db/storable.ts';
import { ApiRejected, AppError, describeError } from '../errors.ts';
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
 * program. To be called once the program has answered something else: a wrong address answers 404 to everything. Its
 * client should try once.
 *
 * Throws: the signal's reason; the database's errors.
 */
export async function findCommissionList(
  { api, db, log }: SyncDeps,
  { setting, isAsked, signal }: { setting: ListSetting; isAsked: boolean; signal: AbortSignal | undefined },
): Promise<FoundList> {
  await noteListSetting(db, setting);
  const version = readVersion();
  const isDue = isAsked ? setting === 'auto' : await isListQuestionDue(db, { version, isPatient: false });
  const problem = isDue ? await ask({ api, db, log }, { version, signal }) : null;
  return { isUsed: await isCommissionListUsed(db), problem };
}

async function ask(
  { api, db, log }: SyncDeps,
  { version, signal }: { version: string; signal: AbortSignal | undefined },
): Promise<AppError | null> {
  const save = async (isServed: boolean) => {
    await saveListAnswer(db, { isServed, version });
    log.info({ is_served: isServed }, 'commissions.list_found');
    return null;
  };
  try {
    await api.list('commissions', { page: 1, limit: 1 }, signal && { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ApiRejected && error.status === 404) return save(false);
    if (!(error instanceof AppError) || error.code.startsWith('DB_')) throw error;
    const problem = describeError(error);
    log.warn({ reason: problem }, 'commissions.list_unknown');
    await saveListProblem(db, storableText(problem));
    return error;
  }
  return save(true);
}
