// Notes the records of forgotten people that were recognised by an address: they are the person's from then on, whatever
// address they have later.

import { sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import type { Recognised } from '../records/personal-data.ts';

/**
 * To be called before rows are written. Sorted: of two loads at the same time, one waits for the other, and not both.
 * Idempotent: yes.
 */
export async function noteRecognised(
  trx: DatabaseTransaction,
  recognised: readonly Recognised[],
): Promise<void> {
  if (recognised.length === 0) return;
  await sql`
    insert into forgotten_records (table_name, record_id, number)
    select distinct on (table_name, record_id) table_name, record_id, number
    from unnest(
      ${recognised.map(({ table }) => table)}::text[],
      ${recognised.map(({ id }) => id)}::text[],
      ${recognised.map(({ addressHash }) => addressHash)}::text[]
    ) as recognised (table_name, record_id, address_hash)
    join forgotten_addresses using (address_hash)
    order by table_name, record_id, number
    on conflict do nothing`.execute(trx);
}
