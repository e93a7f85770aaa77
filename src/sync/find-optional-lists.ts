// Finds out which optional lists the API has, each by one request: a list means that it does. 404 or 410 means that it
// does not, if the API then lists anything: a load balancer that has lost the API behind it says 404 to everything. So
// the lists that were served last time come last, and affiliates are asked for only if no list followed a 404. Any
// other answer decides nothing, and the list is asked for again later.

import type { ApiClient } from '../api/client.ts';
import { isNotFound } from '../api/refusal.ts';
import { describeError } from '../base/describe-error.ts';
import { AppError } from '../base/errors.ts';
import { readVersion } from '../base/package.ts';
import type { ListSettings } from '../config/program/optional-lists.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import type { ListedResource } from '../contract/resources.ts';
import { storableText } from '../db/storable.ts';
import {
  findDueLists,
  noteListSettings,
  readUsedLists,
  saveListAnswer,
  saveListProblem,
} from '../mirror/optional-lists.ts';
import type { SyncDeps } from './open-run.ts';

export interface FoundLists {
  /** The resources that are mirrored by their list, in the order in which a sync reads them. */
  readonly used: readonly ListedResource[];
  /** The failures of this call, by list. */
  readonly problems: ReadonlyMap<ListedResource, AppError>;
}

export interface Asking {
  readonly settings: ListSettings;
  /** Each is asked for if its setting is `auto`; left out: each list for which that is due. */
  readonly lists?: readonly OptionalList[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks the API, and returns the lists that are known then. The client should try once.
 *
 * Throws: the signal's reason; PersonalDataMismatch; the database's errors.
 */
export async function findOptionalLists(
  deps: SyncDeps,
  { settings, lists, signal }: Asking,
): Promise<FoundLists> {
  const { api, db, log } = deps;
  await noteListSettings(db, settings);
  const version = readVersion();
  const asked =
    lists?.filter((list) => settings[list] === 'auto') ??
    (await findDueLists(db, { version, isPatient: false }));
  const problems = new Map<ListedResource, AppError>();
  /** Answered with a 404 that is not believed yet. */
  let lacking: OptionalList[] = [];
  const save = async (list: OptionalList, isServed: boolean) => {
    await saveListAnswer(db, { list, isServed, version });
    log.info({ resource: list, is_served: isServed }, 'sync.list_found');
  };
  const confirmLacking = async () => {
    for (const list of lacking) await save(list, false);
    lacking = [];
  };
  const noteProblem = async (list: OptionalList, error: AppError) => {
    const problem = storableText(describeError(error));
    log.warn({ resource: list, reason: problem }, 'sync.list_unknown');
    await saveListProblem(db, { list, problem });
    problems.set(list, error);
  };
  for (const list of asked) {
    const refusal = await ask(api, list, signal);
    if (refusal === null) {
      await save(list, true);
      await confirmLacking();
    } else if (isNotFound(refusal)) lacking.push(list);
    else await noteProblem(list, refusal);
  }
  const refusal = lacking.length === 0 ? null : await ask(api, 'affiliates', signal);
  if (refusal === null) await confirmLacking();
  else for (const list of lacking) await noteProblem(list, refusal);
  return { used: await readUsedLists(db), problems };
}

/** Returns null if the API lists the resource, else the error. Throws: the signal's reason; the database's errors. */
async function ask(
  api: ApiClient,
  resource: ListedResource,
  signal: AbortSignal | undefined,
): Promise<AppError | null> {
  try {
    await api.list(resource, { page: 1, limit: 1 }, signal && { signal });
    return null;
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof AppError) || error.code.startsWith('DB_')) throw error;
    return error;
  }
}
