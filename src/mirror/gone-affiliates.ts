// Which missing referrals belonged to an affiliate that is gone: the program can be asked for all of these at once.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

export interface GoneAffiliate {
  readonly affiliate_id: string;
  /** Those of the referrals in question that are its. */
  readonly referral_ids: readonly string[];
}

/** Returns the affiliates of these referrals that are marked deleted, that of the most referrals first. */
export async function findGoneAffiliates(
  db: Database,
  referralIds: readonly string[],
): Promise<readonly GoneAffiliate[]> {
  const { rows } = await sql<GoneAffiliate>`
    select r.affiliate_id, array_agg(r.id order by r.id) as referral_ids
    from referrals r join affiliates a on a.id = r.affiliate_id
    where r.id = any(${referralIds}::text[]) and a._deleted_at is not null
    group by r.affiliate_id
    order by count(*) desc, r.affiliate_id`.execute(db);
  return rows;
}

/** Returns a living affiliate that has a living referral besides these; null where there is none. */
export async function findReferringAffiliate(
  db: Database,
  besides: readonly string[],
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select a.id from affiliates a
    where a._deleted_at is null and exists (
      select from referrals r
      where r.affiliate_id = a.id and r._deleted_at is null and r.id <> all(${besides}::text[])
    )
    limit 1`.execute(db);
  return rows[0]?.id ?? null;
}
