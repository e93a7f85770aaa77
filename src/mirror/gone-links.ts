// Marks links deleted that nothing has any more. An affiliate listed with its links names all of them, so a link that
// it does not name is gone, or another affiliate's by now: which of the two, only the end of the list shows. Referrals
// that still name it do not bring it back, nor do those of another affiliate make it that one's. A link that was only
// ever seen in a referral may have no known affiliate: it goes with the last of its referrals.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import type { NamedLinks } from '../records/read-page.ts';
import type { UnnamedLink } from './runs/seen-rows.ts';

/** Returns the living links of these affiliates that none of them names, and that were not observed since. */
export async function findUnnamedLinks(
  trx: DatabaseTransaction,
  affiliates: readonly NamedLinks[],
): Promise<readonly UnnamedLink[]> {
  if (affiliates.length === 0) return [];
  const { rows } = await sql<UnnamedLink>`
    select links.id, links.affiliate_id as "affiliateId", named.observed_at as "observedAt"
    from links
    join unnest(
      ${affiliates.map(({ affiliateId }) => affiliateId)}::text[],
      ${affiliates.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as named (affiliate_id, observed_at) on links.affiliate_id = named.affiliate_id
    where links._deleted_at is null and links._observed_at <= named.observed_at
      and links.id <> all(${affiliates.flatMap(({ linkIds }) => linkIds)}::text[])`.execute(trx);
  return rows;
}

/**
 * Marks deleted those of the links that no affiliate has named in the meantime. To be called once the whole list of
 * affiliates was read. Idempotent: yes. Writes nothing where nothing is gone.
 */
export async function markUnnamedLinks(
  trx: DatabaseTransaction,
  unnamed: readonly UnnamedLink[],
): Promise<void> {
  if (unnamed.length === 0) return;
  await sql`
    update links
    set _deleted_at = unnamed.observed_at, _changed_at = (select stamp_changes()), _observed_at = unnamed.observed_at
    from unnest(
      ${unnamed.map(({ id }) => id)}::text[],
      ${unnamed.map(({ affiliateId }) => affiliateId)}::text[],
      ${unnamed.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as unnamed (id, affiliate_id, observed_at)
    where links.id = unnamed.id and links.affiliate_id = unnamed.affiliate_id and links._deleted_at is null
      and links._observed_at <= unnamed.observed_at`.execute(trx);
}

/** Marks deleted the links of affiliates that are gone themselves. Idempotent: yes. */
export async function markLinksOfGone(
  trx: DatabaseTransaction,
  affiliateIds: readonly string[],
  observedAt: Timestamp,
): Promise<void> {
  const named = affiliateIds.map((affiliateId) => ({ affiliateId, linkIds: [], observedAt }));
  await markUnnamedLinks(trx, await findUnnamedLinks(trx, named));
}

/**
 * Marks deleted the links that no known affiliate has and no living referral names, as of the observation. Should such
 * a link live all the same, the next affiliate that is listed with it brings it back. Idempotent: yes.
 */
export async function markUnownedLinks(trx: DatabaseTransaction, observedAt: Timestamp): Promise<void> {
  await sql`
    update links
    set _deleted_at = ${observedAt}::timestamptz, _changed_at = (select stamp_changes()),
      _observed_at = ${observedAt}::timestamptz
    where links.affiliate_id is null and links._deleted_at is null
      and links._observed_at <= ${observedAt}::timestamptz
      and not exists (
        select from referrals living where living.link_id = links.id and living._deleted_at is null
      )`.execute(trx);
}
