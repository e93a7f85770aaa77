// Takes one person's data out of the mirror for good: out of the stored rows, and out of all rows that come later.
//
// Commissions, sales and the payment ledger stay, with their identifiers and amounts. Two addresses count as one person
// only if the mirror connects them: all addresses that an affiliate has and had, with the unconfirmed one, and equal
// addresses of affiliates and customers. A payout address may be a company's, so it leads to no further record. Neither
// does another address of a customer: a company may name another customer's contact.

import { sql } from 'kysely';
import { ConfigError } from '../../base/errors.ts';
import type { PersonalDataSettings } from '../../config/program/personal-data.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { transact } from '../../db/transact.ts';
import { lockForLoading } from '../load-lock.ts';
import { emptyRows } from './empty-rows.ts';
import { type FoundPerson, findPerson, type PersonRecords } from './find-person.ts';
import {
  findNames,
  findNotRewritten,
  forgetInTexts,
  type NotRewritten,
  patternOf,
} from './forget-in-texts.ts';
import type { RowCounts } from './rewriting.ts';
import { readState, refuseOtherSettings } from './stored-state.ts';

export interface Forgetting {
  readonly number: number;
  /** When the person was forgotten first. */
  readonly forgottenAt: Timestamp;
  readonly doneAt: Timestamp;
  /** The numbers of records and addresses that triggers keep out from now on. */
  readonly records: Readonly<Record<keyof PersonRecords, number>>;
  readonly addresses: number;
  readonly counts: RowCounts;
  readonly notRewritten: readonly NotRewritten[];
}

/**
 * Forgets the person with this e-mail address, or the person of the affiliate, referral or customer with this
 * identifier.
 * Idempotent: yes; a second call finds nothing left, and returns the same number.
 *
 * Throws: ConfigError if `who` is neither; PersonalDataMismatch; the database's errors.
 */
export async function forgetPerson(
  db: Database,
  settings: PersonalDataSettings,
  { who, by }: { who: string; by: string },
): Promise<Forgetting> {
  const word = who.trim();
  return transact(db, async (trx) => {
    // The same order as the writer of payments, which holds its request before it waits for the lock of loads.
    await sql`lock table commission_updates in share row exclusive mode`.execute(trx);
    await lockForLoading(trx, { runId: null });
    const state = await readState(trx);
    refuseOtherSettings(settings, state);
    const person = await findPerson(trx, { settings, salt: state.salt }, word);
    if (person === null) {
      throw new ConfigError([
        `${word} is neither an e-mail address nor the identifier of an affiliate, a referral or a customer in the mirror`,
      ]);
    }
    const known = await noteForgotten(trx, person, by);
    const { affiliates, referrals } = person.records;
    const names = await findNames(trx, person.records);
    const pattern = patternOf([...person.words, ...names, ...affiliates, ...referrals]);
    const counts: RowCounts = new Map();
    await emptyRows(trx, counts, names);
    if (pattern !== null) await forgetInTexts(trx, pattern, counts);
    const notRewritten = pattern === null ? [] : await findNotRewritten(trx, pattern);
    return { ...known, counts, notRewritten };
  });
}

type Known = Omit<Forgetting, 'counts' | 'notRewritten'>;

async function noteForgotten(
  trx: DatabaseTransaction,
  { records, hashes }: FoundPerson,
  by: string,
): Promise<Known> {
  const ofPerson = Object.entries(records).flatMap(([table, ids]) =>
    ids.map((record) => ({ table_name: table, record_id: record })),
  );
  const earlier = await sql<{ number: number }>`
    select number from forgotten_records
    where record_id = any(${ofPerson.map(({ record_id }) => record_id)}::text[])
    union
    select number from forgotten_addresses where address_hash = any(${hashes}::text[])
    order by number limit 1
  `.execute(trx);
  const number = earlier.rows[0]?.number ?? (await addPerson(trx, by));
  await sql`
    with records as (
      insert into forgotten_records (table_name, record_id, number)
      select table_name, record_id, ${number}::bigint
      from jsonb_to_recordset(${JSON.stringify(ofPerson)}::jsonb) as record (table_name text, record_id text)
      on conflict do nothing
    )
    insert into forgotten_addresses (address_hash, number)
    select hash, ${number}::bigint from unnest(${hashes}::text[]) as hash
    on conflict do nothing
  `.execute(trx);
  await sql`select keep_out_forgotten()`.execute(trx);
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
