// Takes one person's data out of the mirror for good: out of what is there, and of what later syncs bring.
//
// What money rests on stays: commissions, sales and the payment ledger with their identifiers and amounts. Two
// addresses count as one person only where the mirror says so: the addresses that an affiliate has and had, the new one
// that waits to be confirmed included, and equal addresses of affiliates and customers. A payout address may be a
// company's, so it leads to nobody else, and neither does a customer's other address: a company may name another
// customer's contact.

import { sql } from 'kysely';
import type { PersonalDataSettings } from '../config/personal-data.ts';
import { addressSpellings } from '../contract/mail-address.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { transact } from '../db/transact.ts';
import { ConfigError } from '../errors.ts';
import { type FoundPerson, findNamed, findPerson, onlyAddresses, type PersonRecords } from './find-person.ts';
import { lockForRewriting } from './locks.ts';
import { type RowCounts, rewriteRows } from './rewrite-rows.ts';
import { findKept, forgetInTexts, type Kept } from './rewrite-texts.ts';
import { readRule, readState, refuseOtherMode, type StoredState } from './stored-state.ts';
import { patternOf } from './text-pattern.ts';
import { formOf, isHashed, saltAddress } from './values.ts';

export interface Forgetting {
  readonly number: number;
  /** When the person was forgotten first. */
  readonly forgottenAt: Timestamp;
  readonly doneAt: Timestamp;
  /** How many records and addresses are kept out from now on. */
  readonly records: Readonly<Record<keyof PersonRecords, number>>;
  readonly addresses: number;
  readonly counts: RowCounts;
  readonly kept: readonly Kept[];
}

/**
 * Returns what was done about the person of this e-mail address, or of the affiliate, the referral or the customer with
 * this identifier.
 * Idempotent: yes; done again, it finds nothing left, and says so under the same number.
 *
 * Throws: ConfigError where it is neither; PersonalDataMismatch; the database's errors.
 */
export async function forgetPerson(
  db: Database,
  settings: PersonalDataSettings,
  { who, by }: { who: string; by: string },
): Promise<Forgetting> {
  const word = who.trim();
  return transact(db, async (trx) => {
    await lockForRewriting(trx);
    const state = await readState(trx);
    refuseOtherMode(settings, state);
    const { salt } = state;
    const { key } = settings;
    const named = await findNamed(trx, { key, salt, word });
    if (named === null) {
      throw new ConfigError([
        `${word} is neither an e-mail address nor the identifier of an affiliate, a referral or a customer in the mirror`,
      ]);
    }
    const person = await findPerson(trx, { key, salt, ...named });
    const { forms } = person;
    // With a key, the address is only kept in a form that nobody without the key can guess.
    const lasting = state.mode === 'hash' ? forms.filter(isHashed) : forms.filter((form) => !isHashed(form));
    const known = await noteForgotten(trx, state, { person, forms: lasting, by });
    const others = person.addresses.map(formOf);
    // The identifier of a customer may be a number, which is in many texts.
    const addressTexts = [...onlyAddresses(forms), ...others].flatMap(addressSpellings);
    const pattern = patternOf([...new Set([...addressTexts, ...person.names])]);
    const counts: RowCounts = new Map();
    const rule = await readRule(trx, settings, await readState(trx));
    const names = pattern === null ? null : new RegExp(pattern.regex, 'i');
    await rewriteRows(trx, rule, { counts, names });
    if (pattern !== null) await forgetInTexts(trx, pattern, counts);
    const kept = pattern === null ? [] : await findKept(trx, pattern);
    return { ...known, counts, kept };
  });
}

type Known = Omit<Forgetting, 'counts' | 'kept'>;

async function noteForgotten(
  trx: DatabaseTransaction,
  { salt }: StoredState,
  { person, forms, by }: { person: FoundPerson; forms: readonly string[]; by: string },
): Promise<Known> {
  const records = Object.entries(person.records).flatMap(([table, ids]) =>
    ids.map((record) => ({ table_name: table, record_id: record })),
  );
  const hashes = [...new Set(forms.map((form) => saltAddress(salt, form)))];
  const earlier = await sql<{ number: number }>`
    select number from forgotten_records
    where record_id = any(${records.map(({ record_id }) => record_id)}::text[])
    union
    select number from forgotten_addresses where address_hash = any(${hashes}::text[])
    order by number limit 1
  `.execute(trx);
  const number = earlier.rows[0]?.number ?? (await addPerson(trx, by));
  const added = await sql<{ added: number }>`
    with records as (
      insert into forgotten_records (table_name, record_id, number)
      select table_name, record_id, ${number}::bigint
      from jsonb_to_recordset(${JSON.stringify(records)}::jsonb) as record (table_name text, record_id text)
      on conflict do nothing returning 1
    ), addresses as (
      insert into forgotten_addresses (address_hash, number)
      select hash, ${number}::bigint from unnest(${hashes}::text[]) as hash
      on conflict do nothing returning 1
    )
    select (select count(*) from records) + (select count(*) from addresses) as added
  `.execute(trx);
  // What was read before this is committed is not stored any more (see lock_for_storing).
  if (onlyRow(added, 'the count of what was added').added > 0)
    await sql`update personal_data set version = version + 1`.execute(trx);
  return readKnown(trx, number);
}

async function addPerson(trx: DatabaseTransaction, by: string): Promise<number> {
  const answer = await sql<{ number: number }>`
    insert into forgotten_people (forgotten_by) values (${by}) returning number
  `.execute(trx);
  return onlyRow(answer, 'forgotten_people').number;
}

async function readKnown(trx: DatabaseTransaction, number: number): Promise<Known> {
  const answer = await sql<{
    forgotten_at: Timestamp;
    done_at: Timestamp;
    affiliates: number;
    referrals: number;
    links: number;
    addresses: number;
  }>`
    select forgotten_at, clock_timestamp() as done_at,
      (select count(*) from forgotten_addresses where number = ${number}) as addresses,
      (select count(*) from forgotten_records where number = ${number} and table_name = 'affiliates') as affiliates,
      (select count(*) from forgotten_records where number = ${number} and table_name = 'referrals') as referrals,
      (select count(*) from forgotten_records where number = ${number} and table_name = 'links') as links
    from forgotten_people where number = ${number}
  `.execute(trx);
  const { forgotten_at, done_at, addresses, ...records } = onlyRow(answer, 'forgotten_people');
  return { number, forgottenAt: forgotten_at, doneAt: done_at, records, addresses };
}
