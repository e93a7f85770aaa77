// Which referrals are expected to be missing: those of an affiliate that is gone.

import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Returns those of the referrals whose affiliate is marked deleted. */
export async function findOfGoneAffiliates(
  db: Database,
  referralIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select r.id from referrals r join affiliates a on a.id = r.affiliate_id
    where r.id = any(${referralIds}::text[]) and a._deleted_at is not null`.execute(db);
  return new Set(rows.map(({ id }) => id));
}
