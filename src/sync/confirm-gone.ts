// Confirms missing referrals in bulk: those whose affiliate is gone, by the program's own list of that affiliate's
// referrals. One request settles all of an affiliate's.
//
// Only an empty list confirms. A program that ignores the filter lists everything, and one that answers it with
// nothing whatever is asked for would confirm everything: so it is first asked for an affiliate that has referrals,
// and must list one of that affiliate's. A program that refuses to list those of an affiliate it no longer has confirms
// nothing either; its rows count as unconfirmed. What this can miss: a referral that a verified walk missed although it
// exists, and that belongs to another affiliate by now. The next run brings it back.

import type { ListedPage } from '../api/client.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { AnswerStored, ApiRejected } from '../errors.ts';
import { findGoneAffiliates, findReferringAffiliate } from '../mirror/gone-affiliates.ts';
import type { RunLoader } from './run-loader.ts';
import type { SyncDeps, WalkInput } from './walk.ts';

/** After so many requests the run says that it is alive. */
const SAVED_AFTER = 5;
/** It may always ask for so many affiliates, and for as many as the list has pages. */
const LEAST_REQUESTS = 10;

export interface Confirmed {
  readonly ids: readonly string[];
  /** When the first of the requests that confirmed it was granted its permit; null where nothing is confirmed. */
  readonly observedAt: Timestamp | null;
}

export const NOTHING: Confirmed = { ids: [], observedAt: null };

/**
 * Returns those of the missing referrals that are confirmed to be gone. `living` is how many rows the mirror has: it
 * sends at most one request more than a walk of these takes, or 11. Loads nothing.
 */
export async function confirmGoneReferrals(
  deps: SyncDeps,
  { loader, limit, signal }: Pick<WalkInput, 'limit' | 'signal'> & { loader: RunLoader },
  { ids, living }: { ids: readonly string[]; living: number },
): Promise<Confirmed> {
  const { db, log } = deps;
  const list = (affiliateId: string) => listOne(deps, { loader, signal }, affiliateId);
  const gone = await findGoneAffiliates(db, ids);
  if (gone.length === 0) return NOTHING;
  const referring = await findReferringAffiliate(db, ids);
  if (referring === null) return NOTHING;
  if (!listsOnly(await list(referring), referring)) {
    log.warn({ affiliate_id: referring }, 'sync.filter_not_believed');
    return NOTHING;
  }
  const confirmed: (readonly string[])[] = [];
  let observedAt: Timestamp | null = null;
  const most = Math.max(LEAST_REQUESTS, Math.ceil(living / limit));
  for (const [index, { affiliate_id, referral_ids }] of gone.slice(0, most).entries()) {
    const page = await list(affiliate_id);
    if ((index + 1) % SAVED_AFTER === 0) await loader.saveRequests();
    if (page === null || page.data.length > 0 || page.pagination.total_count > 0) continue;
    confirmed.push(referral_ids);
    observedAt ??= page.askedAt;
  }
  return { ids: confirmed.flat(), observedAt };
}

/** Returns the newest referral of the affiliate, as the program lists it; null where it refuses, or a cache answers. */
async function listOne(
  { api }: SyncDeps,
  { loader, signal }: Pick<WalkInput, 'signal'> & { loader: RunLoader },
  affiliateId: string,
): Promise<ListedPage | null> {
  const query = { page: 1, limit: 1, filters: { affiliate_id: affiliateId }, expand: ['affiliate'] } as const;
  try {
    return await api.list('referrals', query, { onRequest: loader.countRequest, ...(signal && { signal }) });
  } catch (error) {
    if (error instanceof ApiRejected || error instanceof AnswerStored) return null;
    throw error;
  }
}

function listsOnly(page: ListedPage | null, affiliateId: string): boolean {
  if (page === null || page.data.length === 0) return false;
  return page.data.every(
    (record) => (record as { affiliate?: { id?: unknown } } | null)?.affiliate?.id === affiliateId,
  );
}
