// Finds out which optional lists the program has, each by one request: a list means that it does. 404 or 410 means that
// it does not, if the program then lists affiliates, and answers so once more. Any other answer decides nothing, and
// the question is asked again later.
//
// A load balancer that has lost the program behind it says 404 to everything, and may find it again right after that:
// believed then, the resource would not be synced for a day.

import type { ApiClient } from '../api/client.ts';
import { isNotFound } from '../api/refusal.ts';
import type { ListSettings, OptionalList } from '../config/optional-lists.ts';
import type { ListedResource } from '../contract/resources.ts';
import { storableText } from '../db/storable.ts';
import { describeError } from '../describe-error.ts';
import { AppError } from '../errors.ts';
import {
  findDueLists,
  noteListSettings,
  readUsedLists,
  saveListAnswer,
  saveListProblem,
} from '../mirror/optional-lists.ts';
import { readVersion } from '../package.ts';
import type { SyncDeps } from './walk.ts';

export interface FoundLists {
  /** The resources that are mirrored by their list, in the order in which a sync reads them. */
  readonly used: readonly ListedResource[];
  /** What kept the program from being asked with success just now, of each list that it was asked for. */
  readonly problems: ReadonlyMap<ListedResource, AppError>;
}

export interface Asking {
  readonly settings: ListSettings;
  /** Asked for whenever the setting leaves it to the program; left out: each list for which that is due. */
  readonly lists?: readonly OptionalList[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns what is known, after asking the program. Its client should try once.
 *
 * Throws: the signal's reason; PersonalDataMismatch; the database's errors.
 */
export async function findOptionalLists(
  deps: SyncDeps,
  { settings, lists, signal }: Asking,
): Promise<FoundLists> {
  const { db } = deps;
  await noteListSettings(db, settings);
  const version = readVersion();
  const asked =
    lists?.filter((list) => settings[list] === 'auto') ??
    (await findDueLists(db, { version, isPatient: false }));
  const problems = new Map<ListedResource, AppError>();
  for (const list of asked) {
    const problem = await ask(deps, { list, version, signal });
    if (problem !== null) problems.set(list, problem);
  }
  return { used: await readUsedLists(db), problems };
}

async function ask(
  { api, db, log }: SyncDeps,
  { list, version, signal }: { list: OptionalList; version: string; signal: AbortSignal | undefined },
): Promise<AppError | null> {
  let isServed: boolean;
  try {
    isServed = await isListed(api, list, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof AppError) || error.code.startsWith('DB_')) throw error;
    const problem = storableText(describeError(error));
    log.warn({ resource: list, reason: problem }, 'sync.list_unknown');
    await saveListProblem(db, { list, problem });
    return error;
  }
  await saveListAnswer(db, { list, isServed, version });
  log.info({ resource: list, is_served: isServed }, 'sync.list_found');
  return null;
}

async function isListed(
  api: ApiClient,
  list: OptionalList,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const read = (resource: ListedResource) => api.list(resource, { page: 1, limit: 1 }, signal && { signal });
  const isThere = () =>
    read(list).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  if (await isThere()) return true;
  // A wrong address answers 404 to everything.
  await read('affiliates');
  return await isThere();
}
