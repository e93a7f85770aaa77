// Notes the records of forgotten people that were recognised by an address, and their links: they are the person's
// from then on, whatever address they have later (migrations/0012_personal_data.sql).

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { Recognised } from '../records/personal-data.ts';

/** To be called before rows are written: it may wait for another load. Idempotent: yes. */
export async function noteRecognised(
  trx: DatabaseTransaction,
  recognised: readonly Recognised[],
): Promise<void> {
  if (recognised.length === 0) return;
  await sql`
    select note_recognised(
      ${recognised.map(({ table }) => table)}::text[],
      ${recognised.map(({ id }) => id)}::text[],
      ${recognised.map(({ addressHash }) => addressHash)}::text[],
      ${recognised.map(({ affiliateId }) => affiliateId)}::text[]
    )`.execute(trx);
}
