// Asks whether the program lists its commissions, and says which resources a sync reads.

import { isNotFound } from '../../api/refusal.ts';
import type { Config, ProgramAddress } from '../../config/config.ts';
import { ALWAYS_LISTED, LISTED_RESOURCES, type ListedResource } from '../../contract/resources.ts';
import { ListNotServed } from '../../errors.ts';
import type { ListSetting } from '../../mirror/commission-list.ts';
import { type FoundList, findCommissionList } from '../../sync/find-commission-list.ts';
import type { SyncMode } from '../../sync/run-summary.ts';
import { printError } from '../output/print.ts';
import { type ClientDeps, makeProgramClient } from '../program-client.ts';

export type FindList = (how: { isAsked: boolean }) => Promise<FoundList>;

/** Returns the function that asks, within the request budget and without repeating itself. */
export function makeFindList(
  deps: ClientDeps,
  { config, program }: { config: Config; program: ProgramAddress },
): FindList {
  const { timeoutMs, rateLimit } = config.api;
  const attempts = { most: 1, mostThrottled: 1 };
  const client = { ...program, timeoutMs, rateLimit, priority: 'reads', attempts } as const;
  return ({ isAsked }) => {
    const api = makeProgramClient(deps, client);
    const { db, log, lifetime } = deps;
    const options = { setting: config.commissionList, isAsked, signal: lifetime.signal };
    return findCommissionList({ api, db, log }, options);
  };
}

/**
 * Yields the resources to sync, in order: those named; without any, those that every program lists, and commissions
 * where it lists them. A delta of referrals needs affiliates before it.
 *
 * Throws: ListNotServed where commissions are named and not listed; why the program did not say whether they are.
 */
export async function* chooseResources(
  named: readonly ListedResource[],
  mode: SyncMode,
  findList: FindList,
): AsyncGenerator<ListedResource> {
  if (named.length === 0) {
    yield* ALWAYS_LISTED;
    if ((await findList({ isAsked: false })).isUsed) yield 'commissions';
    return;
  }
  if (named.includes('commissions')) {
    const { isUsed, problem } = await findList({ isAsked: true });
    if (!isUsed) throw problem ?? new ListNotServed(NOT_LISTED);
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
  { resource, setting }: { resource: ListedResource; setting: ListSetting },
): unknown {
  if (resource !== 'commissions' || setting !== 'on' || !isNotFound(error)) return error;
  return new ListNotServed(
    `COMMISSION_LIST is on, but the program does not list its commissions: ${error.message}. Set it to auto, or to off`,
    { cause: error },
  );
}

const NOT_LISTED =
  'commissions are not listed: the program answers 404 for GET /v1/commissions, or COMMISSION_LIST is off. Known ones ' +
  'are mirrored one by one: see "affiliate-mirror commissions track --help"';
