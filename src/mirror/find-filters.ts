// Finds where the program would list a record that a walk did not meet: the narrowest filters that must find it. The
// contract can read neither one affiliate nor one referral by its identifier (a commission it can), so the filters are
// made of what the mirror knows of the record. What they can miss: a record that a verified walk missed although it
// exists, and that has changed every attribute that the mirror could look for since it was last read. The next run
// brings it back. Where the mirror keeps hashes of addresses, it has none to look for: what is known by an address
// alone is then settled by a second walk.

import { sql } from 'kysely';
import { addressSpellings } from '../contract/mail-address.ts';
import type { Filters, ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';

/**
 * Returns the filters under which all of these records would be found, each once; null where some record has
 * nothing to filter by. Source: contract, Endpoints (filters; `stripe_customer_id` is spelled so there).
 */
export async function findFilters(
  db: Database,
  resource: ListedResource,
  ids: readonly string[],
): Promise<readonly Filters<ListedResource>[] | null> {
  if (resource !== 'affiliates' && resource !== 'referrals') return null;
  const found = resource === 'affiliates' ? await affiliateFilters(db, ids) : await referralFilters(db, ids);
  if (found.length < ids.length || found.some((places) => places.length === 0)) return null;
  return [...new Map(found.flat().map((filters) => [JSON.stringify(filters), filters])).values()];
}

/** The places of one record: it is gone if it is in none of them. */
type Found = readonly Filters<ListedResource>[];

// An email changes, by way of the unconfirmed one as a rule: looked for under the old one alone, the affiliate would
// look deleted.
async function affiliateFilters(db: Database, ids: readonly string[]): Promise<Found[]> {
  const { rows } = await sql<Record<'email' | 'unconfirmed_email' | 'processor_customer_id', string | null>>`
    select email, unconfirmed_email, processor_customer_id
    from affiliates where id = any(${ids}::text[])`.execute(db);
  return rows.map(({ email, unconfirmed_email, processor_customer_id }) => [
    ...[email, unconfirmed_email].flatMap(addressFilters),
    ...(processor_customer_id ? [{ stripe_customer_id: processor_customer_id }] : []),
  ]);
}

// The customer at the processor never changes; an email may; an affiliate's whole list is the longest to read.
async function referralFilters(db: Database, ids: readonly string[]): Promise<Found[]> {
  const { rows } = await sql<
    Record<'processor_customer_id' | 'customer_email' | 'affiliate_id', string | null>
  >`
    select processor_customer_id, customer_email, affiliate_id
    from referrals where id = any(${ids}::text[])`.execute(db);
  return rows.map((row) => {
    if (row.processor_customer_id) return [{ stripe_customer_id: row.processor_customer_id }];
    const filters = addressFilters(row.customer_email);
    if (filters.length > 0) return filters;
    return row.affiliate_id ? [{ affiliate_id: row.affiliate_id }] : [];
  });
}

/** The API may compare texts, and spell the domain in the other way by now. */
function addressFilters(stored: string | null): readonly { email: string }[] {
  return stored?.includes('@') === true ? addressSpellings(stored).map((email) => ({ email })) : [];
}
