// Marks links deleted that an affiliate no longer has. An affiliate listed with its links names all of them, so a link
// that it does not name is gone: no list can be walked to find that out, and none needs to be.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { DatabaseTransaction } from '../db/database.ts';
import type { NamedLinks } from '../records/read-page.ts';

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
    set _deleted_at = named.observed_at, _changed_at = named.observed_at, _observed_at = named.observed_at
    from unnest(
      ${affiliates.map(({ affiliateId }) => affiliateId)}::text[],
      ${affiliates.map(({ observedAt }) => observedAt)}::timestamptz[]
    ) as named (affiliate_id, observed_at)
    where links.affiliate_id = named.affiliate_id and links._deleted_at is null
      and links._observed_at <= named.observed_at
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
