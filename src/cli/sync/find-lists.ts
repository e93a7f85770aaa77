// The optional lists of the API, and the resources that a sync reads.

import type { ApiClient } from '../../api/client.ts';
import { isNotFound } from '../../api/refusal.ts';
import { ListNotServed } from '../../base/errors.ts';
import { isOptional, LISTED_RESOURCES, type ListedResource, RESOURCES } from '../../contract/resources.ts';
import { type Asking, type FoundLists, findOptionalLists } from '../../sync/find-optional-lists.ts';
import type { SyncMode } from '../../sync/run-summary.ts';
import { printError } from '../output/print.ts';
import type { Program } from '../program.ts';

export type FindLists = (lists?: Asking['lists']) => Promise<FoundLists>;

/** Returns the function that asks the API, without repeating a request. */
export function makeFindLists({ db, log, lifetime, optionalLists }: Program, api: ApiClient): FindLists {
  return (lists) =>
    findOptionalLists({ api, db, log }, { settings: optionalLists, lists, signal: lifetime.signal });
}

/**
 * Yields the resources to sync, in order: those named; without any, those that the API lists. It is asked for its
 * optional lists after the others are synced. A delta of referrals needs affiliates before it.
 *
 * Throws: ListNotServed if a named one is not listed; the error because of which the API did not say whether it is.
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

/** Returns the error of a list; ListNotServed if OPTIONAL_LISTS names one that the API does not have. */
export function asListError(
  error: unknown,
  resource: ListedResource,
  { optionalLists }: Pick<Program, 'optionalLists'>,
): unknown {
  if (!isOptional(resource) || optionalLists[resource] !== 'on' || !isNotFound(error)) return error;
  return new ListNotServed(
    `OPTIONAL_LISTS names ${resource}, but the API does not list them: ${error.message}. Set it to auto, or leave them out`,
    { cause: error },
  );
}

function notListed(resource: ListedResource): string {
  const { path, unlisted } = RESOURCES[resource];
  const how = resource === 'commissions' ? ' (see "affiliate-mirror commissions track --help")' : '';
  return `${resource} are not listed: the API answers 404 for GET ${path}, or OPTIONAL_LISTS leaves them out; ${unlisted}${how}`;
}
