// Takes one person's data out of the mirror for good: out of what is there, and out of what any writer brings later.
//
// What money rests on stays: commissions, sales and the payment ledger with their identifiers and amounts. Two
// addresses count as one person only where the mirror says so: the addresses that an affiliate has and had, the new one
// that waits to be confirmed included, and equal addresses of affiliates and customers. A payout address may be a
// company's, so it leads to nobody else, and neither does a customer's other address: a company may name another
// customer's contact.

import { sql } from 'kysely';
import type { PersonalDataSettings } from '../config/personal-data.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database, DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { transact } from '../db/transact.ts';
import { ConfigError } from '../errors.ts';
import { lockForLoading } from '../mirror/load-batch.ts';
import { emptyRows } from './empty-rows.ts';
import { findNames } from './find-names.ts';
import { type FoundPerson, findPerson, type PersonRecords } from './find-person.ts';
import { findKept, forgetInTexts, type Kept, patternOf } from './forget-in-texts.ts';
import type { RowCounts } from './rewriting.ts';
import { readState, refuseOtherSettings } from './stored-state.ts';

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
    // In the order of everybody else: a writer of payments holds its request before it waits for the right to load.
    await sql`lock table commission_updates in share row exclusive mode`.execute(trx);
    await lockForLoading(trx, { isAlone: true, runId: null });
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
    const kept = pattern === null ? [] : await findKept(trx, pattern);
    return { ...known, counts, kept };
  });
}

type Known = Omit<Forgetting, 'counts' | 'kept'>;

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
