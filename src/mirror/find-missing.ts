// Finds the rows that a run did not meet, and the filters under which the API would list such a record.
//
// The contract has no read of a single affiliate or referral (only of a commission or a payout), so they are searched
// by the narrowest filters that must find them, made of the stored attributes. These miss a record only if a verified
// walk missed it although it exists, and all of its attributes changed since it was last read; the next run revives it.
// If the mirror stores hashes of addresses, a record that is known by an address alone is decided by a second walk.

import { type RawBuilder, sql } from 'kysely';
import { addressSpellings } from '../contract/mail-address.ts';
import { type Filters, type ListedResource, RESOURCES, type SingleResource } from '../contract/resources.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import type { SeenRows } from './runs/seen-rows.ts';

export interface Missing {
  /** Rows that fit `among` and are not marked deleted. */
  readonly living: number;
  /** The identifiers of those that the run did not meet, in order. */
  readonly ids: readonly string[];
}

/**
 * Returns the rows, of those not marked deleted and with `among` true, that the run did not meet, without rows that
 * were observed since it began and records that it rejected. Missing is not deleted: see docs/design.md, Walks.
 */
export async function findMissing(
  database: Database | DatabaseTransaction,
  {
    runId,
    resource,
    seen,
    among = sql<boolean>`true`,
  }: { runId: number; resource: ListedResource; seen: SeenRows; among?: RawBuilder<boolean> },
): Promise<Missing> {
  const bits = seen.bits();
  // `case`, because get_bit fails beyond the last bit, and Postgres may ask the parts of an `and` in any order.
  const answer = await sql<Missing>`
    select count(*) as living,
      coalesce(array_agg(kept.id) filter (where kept.is_unmet and kept.id <> all(${[...seen.rejected]}::text[])), '{}') as ids
    from (
      select id,
        _observed_at < (select started_at from sync_runs where id = ${runId})
          and case when _row_number < ${bits.length * 8} then get_bit(${bits}, _row_number) = 0 else true end as is_unmet
      from ${sql.table(resource)}
      where _deleted_at is null and ${among}
    ) kept`.execute(database);
  const { living, ids } = onlyRow(answer, resource);
  return { living, ids: ids.toSorted() };
}

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

/** Whether a row can still change, by its state; a commission that came without one, by its times. */
function isOpen(resource: SingleResource): RawBuilder<boolean> {
  const isUnsettled = resource === 'commissions' ? sql`paid_at is null and voided_at is null` : sql`true`;
  return sql<boolean>`
    coalesce(state = any(${[...RESOURCES[resource].openStates]}::text[]), ${isUnsettled})`;
}

/** Returns the number of records in the mirror that can still change. */
export async function countOpen(db: Database, resource: SingleResource): Promise<number> {
  const answer = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(resource)}
    where _deleted_at is null and ${isOpen(resource)}`.execute(db);
  return onlyRow(answer, `the count of open ${resource}`).count;
}

/** Returns the identifiers of those that the run did not meet, as findMissing defines it. */
export async function findUnmetOpen(
  db: Database,
  { runId, resource, seen }: { runId: number; resource: SingleResource; seen: SeenRows },
): Promise<readonly string[]> {
  return (await findMissing(db, { runId, resource, seen, among: isOpen(resource) })).ids;
}

/** Returns a living record that the run has met; null if there is none. */
export async function findMet(
  db: Database,
  resource: SingleResource,
  seen: SeenRows,
): Promise<string | null> {
  const bits = seen.bits();
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(resource)}
    where _deleted_at is null
      and case when _row_number < ${bits.length * 8} then get_bit(${bits}, _row_number) = 1 else false end
    limit 1`.execute(db);
  return rows[0]?.id ?? null;
}

/**
 * Returns the filters under which the API would list all of these records, each once; null if a record has no attribute
 * to filter by. Source: contract, Endpoints (filters; `stripe_customer_id` is spelled so there).
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

/** The filters of one record: it is deleted if none of them lists it. */
type Found = readonly Filters<ListedResource>[];

// An address changes by way of the unconfirmed one, as a rule. With the old address alone, the affiliate would seem
// deleted.
async function affiliateFilters(db: Database, ids: readonly string[]): Promise<Found[]> {
  const { rows } = await sql<Record<'email' | 'unconfirmed_email' | 'processor_customer_id', string | null>>`
    select email, unconfirmed_email, processor_customer_id
    from affiliates where id = any(${ids}::text[])`.execute(db);
  return rows.map(({ email, unconfirmed_email, processor_customer_id }) => [
    ...[email, unconfirmed_email].flatMap(addressFilters),
    ...(processor_customer_id ? [{ stripe_customer_id: processor_customer_id }] : []),
  ]);
}

// The customer at the processor never changes, an address may, and an affiliate's whole list is the longest to read.
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
