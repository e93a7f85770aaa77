// Asks which of the optional lists the program has, and says which resources a sync reads.

import { isNotFound } from '../../api/refusal.ts';
import type { Config, ProgramAddress } from '../../config/config.ts';
import { isOptional, LISTED_RESOURCES, type ListedResource, RESOURCES } from '../../contract/resources.ts';
import { ListNotServed } from '../../errors.ts';
import { type Asking, type FoundLists, findOptionalLists } from '../../sync/find-optional-lists.ts';
import type { SyncMode } from '../../sync/run-summary.ts';
import { printError } from '../output/print.ts';
import { type ClientDeps, makeProgramClient } from '../program-client.ts';

export type FindLists = (lists?: Asking['lists']) => Promise<FoundLists>;

/** Returns the function that asks, within the request budget and without repeating itself. */
export function makeFindLists(
  deps: ClientDeps,
  { config, program }: { config: Config; program: ProgramAddress },
): FindLists {
  const { timeoutMs, rateLimit } = config.api;
  const attempts = { most: 1, mostThrottled: 1 };
  const client = { ...program, timeoutMs, rateLimit, priority: 'reads', attempts } as const;
  return (lists) => {
    const api = makeProgramClient(deps, client);
    const { db, log, lifetime } = deps;
    const asking = { settings: config.optionalLists, lists, signal: lifetime.signal };
    return findOptionalLists({ api, db, log }, asking);
  };
}

/**
 * Yields the resources to sync, in order: those named; without any, those that the program lists. It is asked which
 * these are after those that every program lists. A delta of referrals needs affiliates before it.
 *
 * Throws: ListNotServed where one is named that is not listed; why the program did not say whether it is.
 */
export async function* chooseResources(
  named: readonly ListedResource[],
  mode: SyncMode,
  findLists: FindLists,
): AsyncGenerator<ListedResource> {
  if (named.length === 0) {
    yield* LISTED_RESOURCES.filter((resource) => !isOptional(resource));
    yield* (await findLists()).used.filter(isOptional);
    return;
  }
  const optional = named.filter(isOptional);
  if (optional.length > 0) {
    const { used, problems } = await findLists(optional);
    const unused = optional.find((resource) => !used.includes(resource));
    if (unused !== undefined) throw problems.get(unused) ?? new ListNotServed(notListed(unused));
  }
  const needsCounters = mode === 'delta' && named.includes('referrals') && !named.includes('affiliates');
  if (needsCounters) {
    printError(
      'affiliate-mirror: a delta of referrals needs the affiliates’ counters: affiliates are synced first',
    );
  }
  yield* LISTED_RESOURCES.filter(
    (resource) => named.includes(resource) || (resource === 'affiliates' && needsCounters),
  );
}

/** Returns the error of a list; where the configuration alone says that there is one, and there is none, that. */
export function asListError(
  error: unknown,
  resource: ListedResource,
  { optionalLists }: Pick<Config, 'optionalLists'>,
): unknown {
  if (!isOptional(resource) || optionalLists[resource] !== 'on' || !isNotFound(error)) return error;
  return new ListNotServed(
    `OPTIONAL_LISTS names ${resource}, but the program does not list them: ${error.message}. Set it to auto, or leave them out`,
    { cause: error },
  );
}

function notListed(resource: ListedResource): string {
  const { path, unlisted } = RESOURCES[resource];
  const how = resource === 'commissions' ? ' (see "affiliate-mirror commissions track --help")' : '';
  return `${resource} are not listed: the program answers 404 for GET ${path}, or OPTIONAL_LISTS leaves them out; ${unlisted}${how}`;
}
