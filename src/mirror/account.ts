// Whether the API serves the account of this mirror. No answer names its account, but identifiers are UUIDs: one record
// that the mirror has is evidence, and another account has none. Without evidence no code may write, send a change, or
// conclude anything from a 404: every record of the mirror would seem deleted, and each pending payment would end as
// not found.
//
// The address and the secret are no evidence: an account may move to another address, and another account's secret
// works at the same one. A normal run finds the evidence in its first page, without a further request.

import { sql } from 'kysely';
import type { ApiClient, CallOptions, ListedPage } from '../api/client.ts';
import { ApiRejected, ProgramChanged } from '../base/errors.ts';
import { MAXIMUM_LIMIT } from '../contract/answer-bodies.ts';
import type { Commission } from '../contract/commission.ts';
import type { Payout } from '../contract/payout.ts';
import type { Database } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import type { MirroredTable } from '../decode/mirrored-tables.ts';
import { usableId } from '../decode/plain-reader.ts';

/** Identifiers of records in answers of the API, by the table for them. */
export type AnsweredIds = ReadonlyMap<MirroredTable, readonly string[]>;

export interface Account {
  /**
   * Resolves if the mirror has one of the answered records, or has no records. If it has none of these, asks the API
   * for some that it has. Afterwards, sends no further request until `doubt` is called or the client has another
   * secret.
   *
   * Throws: ProgramChanged; the errors of the client and the database.
   */
  confirm(answers: Iterable<AnsweredIds>, options: CallOptions): Promise<void>;
  /** To be called when the API failed: the next answer may be of another account. */
  doubt(): void;
}

export interface AccountDeps {
  readonly api: Pick<ApiClient, 'list' | 'getCommission' | 'renewals'>;
  readonly db: Database;
}

/** The number of the largest affiliates and of commissions to request: some of them may be deleted. */
const SAMPLE = 3;

/** Returns the account for one run, writer or command; it is unconfirmed at first. */
export function makeAccount({ api, db }: AccountDeps): Account {
  /** The number of the client's secret under which the account was confirmed; null if it was not. */
  let confirmedUnder: number | null = null;
  let asking: Promise<boolean> | null = null;

  async function holdsAny(answers: Iterable<AnsweredIds>): Promise<boolean> {
    for (const ids of answers) if (await holds(db, ids)) return true;
    return false;
  }

  async function ask(options: CallOptions): Promise<boolean> {
    for await (const ids of askForKnown({ api, db }, options)) if (await holds(db, ids)) return true;
    return false;
  }

  return {
    async confirm(answers, options) {
      const under = api.renewals();
      if (confirmedUnder === under) return;
      const isKnown = (await holdsAny(answers)) || !(await hasRecords(db));
      if (!isKnown) {
        asking ??= ask(options).finally(() => {
          asking = null;
        });
        if (!(await asking)) throw new ProgramChanged(CHANGED);
      }
      confirmedUnder = under;
    },
    doubt() {
      confirmedUnder = null;
    },
  };
}

/**
 * Returns the number of affiliates at the API, if it accepts the secret and serves the mirror's account. `db` is null
 * if there is no mirror yet. Throws: as `confirm`.
 */
export async function probeAccount(
  { api, db }: { api: AccountDeps['api']; db: Database | null },
  options: CallOptions,
): Promise<number> {
  const page = await api.list('affiliates', { page: 1, limit: MAXIMUM_LIMIT }, options);
  if (db !== null) await makeAccount({ api, db }).confirm([affiliateIds(page)], options);
  return page.pagination.total_count;
}

export function affiliateIds({ data }: Pick<ListedPage, 'data'>): AnsweredIds {
  return new Map([['affiliates', data.flatMap((record) => usableId(record) ?? [])]]);
}

/** Returns the identifiers of a commission and of the referral and the affiliate that it names. */
export function commissionIds({ id, sale }: Commission): AnsweredIds {
  const named = (record: unknown) => [usableId(record)].filter((known) => known !== null);
  return new Map<MirroredTable, readonly string[]>([
    ['commissions', [id]],
    ['referrals', named(sale?.referral)],
    ['affiliates', named(sale?.affiliate)],
  ]);
}

/** Returns the identifiers of a payout, of its commissions and of the affiliate that it names. */
export function payoutIds({ id, affiliate, commissions = [] }: Payout): AnsweredIds {
  return new Map<MirroredTable, readonly string[]>([
    ['payouts', [id]],
    ['commissions', commissions.map((commission) => commission.id)],
    ['affiliates', [usableId(affiliate)].filter((known) => known !== null)],
  ]);
}

/** The cheapest evidence first. A refusal of the API (a deleted commission) is no evidence. */
async function* askForKnown({ api, db }: AccountDeps, options: CallOptions): AsyncGenerator<AnsweredIds> {
  const newest = await api.list('affiliates', { page: 1, limit: MAXIMUM_LIMIT }, options);
  yield affiliateIds(newest);
  for (const affiliate_id of await findLargestAffiliates(db)) {
    const query = { page: 1, limit: MAXIMUM_LIMIT, filters: { affiliate_id } };
    const page = await unlessRefused(api.list('referrals', query, options));
    if (page !== null) yield new Map([['referrals', page.data.flatMap((record) => usableId(record) ?? [])]]);
  }
  for (const id of await findCommissions(db)) {
    const read = await unlessRefused(api.getCommission(id, options));
    if (read !== null) yield commissionIds(read.commission);
  }
  const { total_pages } = newest.pagination;
  if (total_pages > 1) {
    yield affiliateIds(await api.list('affiliates', { page: total_pages, limit: MAXIMUM_LIMIT }, options));
  }
}

async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof ApiRejected && error.isOfProgram) return null;
    throw error;
  });
}

async function holds(db: Database, ids: AnsweredIds): Promise<boolean> {
  const asked = [...ids].filter(([, some]) => some.length > 0);
  if (asked.length === 0) return false;
  const found = asked.map(
    ([table, some]) => sql`exists (select from ${sql.table(table)} where id = any(${[...some]}::text[]))`,
  );
  const answer = await sql<{ held: boolean }>`select ${sql.join(found, sql` or `)} as held`.execute(db);
  return onlyRow(answer, 'the records that are held').held;
}

/** Returns whether the mirror has a record that is not marked deleted. */
async function hasRecords(db: Database): Promise<boolean> {
  const answer = await sql<{ has: boolean }>`
    select exists (select from affiliates where _deleted_at is null)
      or exists (select from referrals where _deleted_at is null)
      or exists (select from commissions where _deleted_at is null) as has`.execute(db);
  return onlyRow(answer, 'whether there are records').has;
}

async function findLargestAffiliates(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ affiliate_id: string }>`
    select affiliate_id from referrals where _deleted_at is null and affiliate_id is not null
    group by affiliate_id order by count(*) desc limit ${SAMPLE}`.execute(db);
  return rows.map(({ affiliate_id }) => affiliate_id);
}

async function findCommissions(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from commissions where _deleted_at is null order by _row_number desc limit ${SAMPLE}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

const CHANGED =
  'the API answers with none of the records that the mirror has: the secret or the address is that of another ' +
  'account, or all of its records were replaced. Nothing was written, and no payment was sent or ended. Correct ' +
  'AFFILIATE_API_SECRET and AFFILIATE_API_URL, or give this account a mirror of its own (MIRROR_SCHEMA). If all ' +
  'records of this account were really replaced, run "affiliate-mirror sync --accept-program"';
