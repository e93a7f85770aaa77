// Marks links deleted that an affiliate no longer has. An affiliate listed with its links names all of them, so a link
// that it does not name is gone: no list can be walked to find that out, and none needs to be.
// Referrals that still name it do not bring it back, nor do those of another affiliate make it that one's.
// A link that was only ever seen in a referral may have no known affiliate: it goes with the last of its referrals.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import type { NamedLinks } from '../records/read-page.ts';
import { wasObservedInFuture } from './observed-in-future.ts';

/**
 * Marks deleted every link of these affiliates that none of them names and that was not observed since.
 * Idempotent: yes. Writes nothing where nothing is gone.
 */
export async function markGoneLinks(
  trx: DatabaseTransaction,
  affiliates: readonly NamedLinks[],
): Promise<void> {
  if (affiliates.length === 0) return;
  await sql`
    update links
    set _deleted_at = named.observed_at, _changed_at = (select stamp_changes()), _observed_at = named.observed_at
    from unnest(
      ${affiliates.map(({ affiliateId }) => affiliateId)}::text[],
      ${affiliates.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as named (affiliate_id, observed_at)
    where links.affiliate_id = named.affiliate_id and links._deleted_at is null
      and (links._observed_at <= named.observed_at or ${sql.raw(wasObservedInFuture('links'))})
      and links.id <> all(${affiliates.flatMap(({ linkIds }) => linkIds)}::text[])`.execute(trx);
}

/** Marks deleted the links of affiliates that are gone themselves. Idempotent: yes. */
export async function markLinksOfGone(
  trx: DatabaseTransaction,
  affiliateIds: readonly string[],
  observedAt: Timestamp,
): Promise<void> {
  await markGoneLinks(
    trx,
    affiliateIds.map((affiliateId) => ({ affiliateId, linkIds: [], observedAt })),
  );
}

/**
 * Marks deleted the links of these referrals that no known affiliate has and no living referral names. Should the link
 * live all the same, the next affiliate that is listed with it brings it back. Idempotent: yes.
 */
export async function markUnownedLinks(
  trx: DatabaseTransaction,
  referralIds: readonly string[],
  observedAt: Timestamp,
): Promise<void> {
  await sql`
    update links
    set _deleted_at = ${observedAt}::timestamptz, _changed_at = (select stamp_changes()),
      _observed_at = ${observedAt}::timestamptz
    where links.affiliate_id is null and links._deleted_at is null
      and (links._observed_at <= ${observedAt}::timestamptz or ${sql.raw(wasObservedInFuture('links'))})
      and links.id in (select link_id from referrals where id = any(${referralIds}::text[]))
      and not exists (
        select from referrals living where living.link_id = links.id and living._deleted_at is null
      )`.execute(trx);
}
