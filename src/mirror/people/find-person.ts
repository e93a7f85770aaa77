// Finds a person's records, by an e-mail address or by the identifier of an affiliate, a referral or a customer.

import { type RawBuilder, sql } from 'kysely';
import type { PersonalDataSettings } from '../../config/program/personal-data.ts';
import type { DatabaseTransaction } from '../../db/database.ts';
import { IDENTITY_COLUMNS } from './personal-columns.ts';
import { isAddress, isHashed, saltForm, storedForms } from './values.ts';

/** Identifiers by table. */
export type PersonRecords = Readonly<Record<'affiliates' | 'referrals' | 'links', readonly string[]>>;

export interface FoundPerson {
  readonly records: PersonRecords;
  /** Salted hashes of every address that leads to the records, and of the given identifier of a customer. */
  readonly hashes: readonly string[];
  /** Addresses that the records have or had, and the given word, if they are in plain text. */
  readonly words: readonly string[];
}

type PersonTable = keyof typeof IDENTITY_COLUMNS;

/** The identifiers and hashes that are known so far. */
interface Known {
  readonly ids: readonly string[];
  readonly hashes: readonly string[];
}

/** How the mirror stores and salts addresses. */
interface Storage {
  readonly settings: PersonalDataSettings;
  readonly salt: string;
}

/**
 * Returns the person to whom the word leads; null if it is neither an address nor the identifier of a record or a
 * customer in the mirror. All addresses that an affiliate has and had belong to the person, and lead to more records,
 * until there is nothing new. So do the addresses of a referral that the word names. No other address of a customer
 * leads to further records.
 */
export async function findPerson(
  trx: DatabaseTransaction,
  { settings, salt }: Storage,
  word: string,
): Promise<FoundPerson | null> {
  const hashesOf = (texts: readonly string[]) =>
    texts.flatMap((text) => storedForms(settings, text)).map((form) => saltForm(salt, form));
  const named = isAddress(word) ? [] : await findNamed(trx, word, hashesOf([word]));
  if (named.length === 0 && !isAddress(word)) return null;
  const isCustomer = named.some((record) => record.is_customer);
  const ids = named.map(({ id }) => id);
  const given = isAddress(word) || isCustomer ? [word] : [];
  let hashes = union(hashesOf(given), hashesOf(await readAddresses(trx, 'referrals', ids)));
  let affiliates: readonly string[];
  let noted: PersonRecords;
  for (;;) {
    noted = await readNoted(trx, { ids, hashes });
    affiliates = union(noted.affiliates, await findIds(trx, salt, 'affiliates', { ids, hashes }));
    const more = union(hashes, hashesOf(await readAddresses(trx, 'affiliates', affiliates)));
    if (more.length === hashes.length) break;
    hashes = more;
  }
  const referrals = union(noted.referrals, await findIds(trx, salt, 'referrals', { ids, hashes }));
  const addresses = [
    ...(await readAddresses(trx, 'affiliates', affiliates)),
    ...(await readAddresses(trx, 'referrals', referrals)),
  ];
  return {
    records: { affiliates, referrals, links: union(noted.links, await findLinks(trx, affiliates)) },
    hashes,
    words: union(isAddress(word) ? [word] : [], addresses).filter((text) => !isHashed(text)),
  };
}

function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some, ...others])];
}

/** Returns the records with this identifier, and those that have or had it as the customer's. */
async function findNamed(
  trx: DatabaseTransaction,
  word: string,
  hashes: readonly string[],
): Promise<readonly { id: string; is_customer: boolean }[]> {
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
  return rows;
}

/** Returns the records that were noted when the person was forgotten before. */
async function readNoted(trx: DatabaseTransaction, { ids, hashes }: Known): Promise<PersonRecords> {
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

/** Returns the records that have or had one of the addresses or identifiers. */
async function findIds(
  trx: DatabaseTransaction,
  salt: string,
  table: PersonTable,
  { ids, hashes }: Known,
): Promise<readonly string[]> {
  const columns = IDENTITY_COLUMNS[table];
  const isTheirs = (values: readonly RawBuilder<unknown>[]) =>
    sql`array[${sql.join(values.map((value) => sql`salted_hash(${salt}, ${value})`))}] && ${hashes}::text[]`;
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)}
    where id = any(${ids}::text[]) or ${isTheirs(columns.map((column) => sql.ref(column)))}
    union
    select record_id from record_history
    where table_name = ${table} and before ?| ${columns}::text[] and ${isTheirs(formerOf(columns))}
  `.execute(trx);
  return rows.map(({ id }) => id);
}

/** Returns the addresses that the records have and had. Other texts, such as a dash, would lead to other people. */
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
  return rows.map(({ address }) => address?.trim() ?? '').filter((text) => isAddress(text) || isHashed(text));
}

function formerOf(columns: readonly string[]): RawBuilder<unknown>[] {
  return columns.flatMap((column) => [sql`before ->> ${sql.lit(column)}`, sql`after ->> ${sql.lit(column)}`]);
}

/**
 * Returns the links of the affiliates. A link that the mirror knows only through the referral of a sale has no
 * affiliate: it belongs to the referral's, also if the referral named it in the past (history).
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
