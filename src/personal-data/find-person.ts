// Finds what the mirror holds of a person, given an e-mail address or the identifier of an affiliate or a referral.

import type { KeyObject } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { findNames } from './find-names.ts';
import { IDENTITY_COLUMNS } from './personal-columns.ts';
import { addressForms, isAddress, isHashed } from './values.ts';

export interface FoundPerson {
  /** Identifiers by table. */
  readonly records: Readonly<Record<'affiliates' | 'referrals' | 'links', readonly string[]>>;
  /** Every form of every address that leads to the records: those that were given, and those of the affiliates. */
  readonly forms: readonly string[];
  /** Every address that the records have or had, as it is stored: an old one leads here as well as the present one. */
  readonly addresses: readonly string[];
  /** Full names, those of the history and those in reverse included, where they are stored plain. */
  readonly names: readonly string[];
}

type PersonTable = keyof typeof IDENTITY_COLUMNS;

/**
 * Returns the addresses by which the record's person is or was known, as they are stored; null where there is no such
 * record.
 */
export async function findAddresses(trx: DatabaseTransaction, id: string): Promise<readonly string[] | null> {
  const { rows } = await sql<{ addresses: readonly (string | null)[] }>`
    select array[email, unconfirmed_email] as addresses from affiliates where lower(id) = ${id}
    union all
    select array[customer_email] from referrals where lower(id) = ${id}
    union all
    select array[before ->> 'email', before ->> 'unconfirmed_email', before ->> 'customer_email',
      after ->> 'email', after ->> 'unconfirmed_email', after ->> 'customer_email']
    from record_history where lower(record_id) = ${id} and table_name in ('affiliates', 'referrals')
    union all
    select array[]::text[] from forgotten_records where lower(record_id) = ${id}
  `.execute(trx);
  if (rows.length === 0) return null;
  return clean(rows.flatMap(({ addresses }) => addresses));
}

/**
 * Returns the records of whoever is or was known by one of the addresses, and of the identifier. An affiliate's other
 * addresses, those of before included, are the person's as well, and lead to more records.
 */
export async function findPerson(
  trx: DatabaseTransaction,
  { key, addresses, id }: { key: KeyObject | null; addresses: readonly string[]; id: string | null },
): Promise<FoundPerson> {
  let forms: readonly string[] = [];
  let known = new Set(addresses.flatMap((address) => addressForms(key, address)));
  let affiliates: readonly string[] = [];
  let theirs: readonly string[] = [];
  do {
    forms = [...known];
    affiliates = await findIds(trx, 'affiliates', { forms, id });
    theirs = await readAddresses(trx, 'affiliates', affiliates);
    known = new Set([...forms, ...theirs.flatMap((address) => addressForms(key, address))]);
  } while (known.size > forms.length);
  const referrals = await findIds(trx, 'referrals', { forms, id });
  const links = await sql<{ id: string }>`
    select id from links where affiliate_id = any(${affiliates}::text[])
  `.execute(trx);
  return {
    records: { affiliates, referrals, links: links.rows.map((row) => row.id) },
    forms,
    addresses: [...theirs, ...(await readAddresses(trx, 'referrals', referrals))],
    names: await findNames(trx, { affiliates, referrals }),
  };
}

async function findIds(
  trx: DatabaseTransaction,
  table: PersonTable,
  { forms, id }: { forms: readonly string[]; id: string | null },
): Promise<readonly string[]> {
  const isTheirs = (read: (column: string) => RawBuilder<unknown>) =>
    sql.join(
      IDENTITY_COLUMNS[table].map(
        (column) => sql`lower(btrim(${read(column)}, E' \\t\\r\\n')) = any(${forms}::text[])`,
      ),
      sql` or `,
    );
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where lower(id) = ${id} or ${isTheirs((column) => sql.ref(column))}
    union
    select record_id from record_history
    where table_name = ${table} and (
      ${isTheirs((column) => sql`before ->> ${sql.lit(column)}`)}
      or ${isTheirs((column) => sql`after ->> ${sql.lit(column)}`)}
    )
  `.execute(trx);
  return rows.map((row) => row.id);
}

async function readAddresses(
  trx: DatabaseTransaction,
  table: PersonTable,
  ids: readonly string[],
): Promise<readonly string[]> {
  const columns = IDENTITY_COLUMNS[table];
  const inHistory = columns.flatMap((column) => [
    sql`before ->> ${sql.lit(column)}`,
    sql`after ->> ${sql.lit(column)}`,
  ]);
  const { rows } = await sql<{ address: string | null }>`
    select address
    from ${sql.table(table)}, unnest(array[${sql.join(columns.map((column) => sql.ref(column)))}]) as address
    where id = any(${ids}::text[])
    union
    select address from record_history, unnest(array[${sql.join(inHistory)}]) as address
    where table_name = ${table} and record_id = any(${ids}::text[])
  `.execute(trx);
  return clean(rows.map(({ address }) => address));
}

/** Returns the addresses alone: what is none, such as a dash, leads to much that is about somebody else. */
function clean(texts: readonly (string | null)[]): readonly string[] {
  return texts.map((text) => text?.trim() ?? '').filter((text) => isAddress(text) || isHashed(text));
}
