// Finds what the mirror holds of a person, given an e-mail address or the identifier of an affiliate, a referral or a
// customer.

import type { KeyObject } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { findNames } from './find-names.ts';
import { inBatches } from './in-batches.ts';
import { IDENTITY_COLUMNS } from './personal-columns.ts';
import { addressForms, formOf, isAddress, isHashed, saltAddress } from './values.ts';

/** Identifiers by table. */
export type PersonRecords = Readonly<Record<'affiliates' | 'referrals' | 'links', readonly string[]>>;

export interface FoundPerson {
  readonly records: PersonRecords;
  /**
   * Every form of every address that leads to the records: those that were given, and those of the affiliates. Also of
   * a customer's identifier that was given.
   */
  readonly forms: readonly string[];
  /** Every address that the records have or had, as it is stored: an old one leads here as well as the present one. */
  readonly addresses: readonly string[];
  /** Full names, those of the history and those in reverse included, where they are stored plain. */
  readonly names: readonly string[];
}

type PersonTable = keyof typeof IDENTITY_COLUMNS;

interface Sought {
  readonly key: KeyObject | null;
  /** Of what is kept of forgotten addresses. */
  readonly salt: string;
  /** And identifiers of customers. */
  readonly addresses: readonly string[];
  /** Of records, in lower case. */
  readonly ids: readonly string[];
}

/**
 * Returns the addresses and records by which a word leads to a person; null if it is neither an address nor the
 * identifier of a record or a customer in the mirror. A customer's identifier that was named is kept as addresses are.
 */
export async function findNamed(
  trx: DatabaseTransaction,
  { key, salt, word }: Pick<Sought, 'key' | 'salt'> & { word: string },
): Promise<Pick<Sought, 'addresses' | 'ids'> | null> {
  if (isAddress(word)) return { addresses: [word], ids: [] };
  const hashes = addressForms(key, word).map((form) => saltAddress(salt, form));
  const { rows } = await sql<{ id: string; is_customer: boolean }>`
    with customers as (
      select id from affiliates where processor_customer_id = ${word}
      union
      select id from referrals where ${word} in (processor_customer_id, customer_id)
      union
      select record_id from record_history
      where table_name in ('affiliates', 'referrals')
        and ${word} in (before ->> 'processor_customer_id', before ->> 'customer_id',
                        after ->> 'processor_customer_id', after ->> 'customer_id')
      union
      select record_id from forgotten_records
      where number in (select number from forgotten_addresses where address_hash = any(${hashes}::text[]))
    ), records as (
      select id from affiliates union select id from referrals union select record_id from forgotten_records
    )
    select id, true as is_customer from customers
    union
    select id, false from records where id = ${word.toLowerCase()}
  `.execute(trx);
  if (rows.length === 0) return null;
  const ids = rows.map(({ id }) => id);
  const addresses = await findAddresses(trx, ids);
  return { ids, addresses: rows.some((row) => row.is_customer) ? [word, ...addresses] : addresses };
}

/** Returns the addresses by which the person of the records is or was known, as they are stored. */
async function findAddresses(trx: DatabaseTransaction, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ addresses: readonly (string | null)[] }>`
    select array[email, unconfirmed_email] as addresses from affiliates where id = any(${ids}::text[])
    union all
    select array[customer_email] from referrals where id = any(${ids}::text[])
    union all
    select array[before ->> 'email', before ->> 'unconfirmed_email', before ->> 'customer_email',
      after ->> 'email', after ->> 'unconfirmed_email', after ->> 'customer_email']
    from record_history where record_id = any(${ids}::text[]) and table_name in ('affiliates', 'referrals')
  `.execute(trx);
  return onlyAddresses(rows.flatMap(({ addresses }) => addresses));
}

/**
 * Returns the records of the person who is or was known by one of the addresses, and of the identifiers, with those
 * that were noted as the same person's. An affiliate's other addresses, those of before included, are the person's as
 * well, and lead to more records.
 */
export async function findPerson(
  trx: DatabaseTransaction,
  { key, salt, addresses, ids }: Sought,
): Promise<FoundPerson> {
  let forms: readonly string[] = [];
  let known = new Set(addresses.flatMap((address) => addressForms(key, address)));
  let noted: PersonRecords;
  let affiliates: readonly string[];
  let theirs: readonly string[];
  do {
    forms = [...known];
    noted = await readNoted(trx, { hashes: forms.map((form) => saltAddress(salt, form)), ids });
    affiliates = union(noted.affiliates, await findIds(trx, 'affiliates', { forms, ids }));
    theirs = await readAddresses(trx, 'affiliates', affiliates);
    known = new Set([...forms, ...theirs.flatMap((address) => addressForms(key, address))]);
  } while (known.size > forms.length);
  const referrals = union(noted.referrals, await findIds(trx, 'referrals', { forms, ids }));
  return {
    records: { affiliates, referrals, links: union(noted.links, await findLinks(trx, affiliates)) },
    forms,
    addresses: [...theirs, ...(await readAddresses(trx, 'referrals', referrals))],
    names: await findNames(trx, { affiliates, referrals }),
  };
}

/**
 * Returns the links of the affiliates. One that the mirror knows through the referral of a sale alone has no affiliate:
 * it is whose referral that is, and the history says so where the referral names it no longer.
 */
async function findLinks(
  trx: DatabaseTransaction,
  affiliates: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with theirs as (
      select id, link_id from referrals where affiliate_id = any(${affiliates}::text[])
      union
      select referral.id, referral.link_id
      from sales sale join referrals referral on referral.id = sale.referral_id
      where sale.affiliate_id = any(${affiliates}::text[])
    ), named as (
      select link_id from theirs
      union
      select history.before ->> 'link_id'
      from theirs join record_history history on history.record_id = theirs.id
      where history.table_name = 'referrals'
    )
    select id from links where affiliate_id = any(${affiliates}::text[])
    union
    select id from links where affiliate_id is null and id in (select link_id from named)
  `.execute(trx);
  return rows.map(({ id }) => id);
}

function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some, ...others])];
}

/** Returns what was noted of the person who has one of the identifiers or addresses. */
async function readNoted(
  trx: DatabaseTransaction,
  { hashes, ids }: { hashes: readonly string[]; ids: readonly string[] },
): Promise<PersonRecords> {
  const { rows } = await sql<{ table_name: keyof PersonRecords; record_id: string }>`
    select table_name, record_id from forgotten_records where number in (
      select number from forgotten_records where record_id = any(${ids}::text[])
      union
      select number from forgotten_addresses where address_hash = any(${hashes}::text[])
    )
  `.execute(trx);
  const of = (table: keyof PersonRecords) =>
    rows.filter((row) => row.table_name === table).map((row) => row.record_id);
  return { affiliates: of('affiliates'), referrals: of('referrals'), links: of('links') };
}

/** Few enough to be held at once. */
const BATCH = 5000;

/**
 * Returns the records that have or had one of the addresses, and those of the identifiers. Compared in Node: Postgres
 * sees neither every white space nor that two spellings of a letter are one, and its lower case depends on the locale.
 */
async function findIds(
  trx: DatabaseTransaction,
  table: PersonTable,
  { forms, ids }: { forms: readonly string[]; ids: readonly string[] },
): Promise<readonly string[]> {
  const wanted = new Set(forms);
  const found = new Set<string>();
  const add = (rows: readonly KnownBy[]): void => {
    for (const { record_id, addresses } of rows) {
      const isTheirs = addresses.some((address) => address !== null && wanted.has(formOf(address)));
      if (isTheirs || ids.includes(record_id)) found.add(record_id);
    }
  };
  const columns = IDENTITY_COLUMNS[table];
  const current = sql.join(columns.map((column) => sql.ref(column)));
  const records = inBatches({ first: '', limit: BATCH }, (after) =>
    sql<KnownBy & { id: string }>`
      select id, id as record_id, array[${current}] as addresses
      from ${sql.table(table)} where id > ${after} order by id limit ${BATCH}
    `.execute(trx),
  );
  for await (const rows of records) add(rows);
  const changes = inBatches({ first: 0, limit: BATCH }, (after) =>
    sql<KnownBy & { id: number }>`
      select id, record_id, array[${sql.join(formerOf(columns))}] as addresses
      from record_history
      where table_name = ${table} and before ?| ${columns}::text[] and id > ${after} order by id limit ${BATCH}
    `.execute(trx),
  );
  for await (const rows of changes) add(rows);
  return [...found];
}

interface KnownBy {
  readonly record_id: string;
  readonly addresses: readonly (string | null)[];
}

function formerOf(columns: readonly string[]): RawBuilder<unknown>[] {
  return columns.flatMap((column) => [sql`before ->> ${sql.lit(column)}`, sql`after ->> ${sql.lit(column)}`]);
}

async function readAddresses(
  trx: DatabaseTransaction,
  table: PersonTable,
  ids: readonly string[],
): Promise<readonly string[]> {
  const columns = IDENTITY_COLUMNS[table];
  const { rows } = await sql<{ address: string | null }>`
    select address
    from ${sql.table(table)}, unnest(array[${sql.join(columns.map((column) => sql.ref(column)))}]) as address
    where id = any(${ids}::text[])
    union
    select address from record_history, unnest(array[${sql.join(formerOf(columns))}]) as address
    where table_name = ${table} and record_id = any(${ids}::text[])
  `.execute(trx);
  return onlyAddresses(rows.map(({ address }) => address));
}

/** Returns the addresses alone: what is none, such as a dash, leads to much that is about somebody else. */
export function onlyAddresses(texts: readonly (string | null)[]): readonly string[] {
  return texts.map((text) => text?.trim() ?? '').filter((text) => isAddress(text) || isHashed(text));
}
