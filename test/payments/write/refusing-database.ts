// A database whose administrator added what refuses rows: constraints and triggers, taken away after each test.

import { afterEach } from 'vitest';
import { PAID_AT, type ProgramRow, type useWriter } from './start-writer.ts';

/** Returns what the tests of refused rows need. */
export function useRefusals(writer: ReturnType<typeof useWriter>) {
  /** The statements that take away what was added. */
  const added: string[] = [];

  async function takeAway(): Promise<void> {
    for (const statement of added.splice(0).reverse()) await writer().database.pool.query(statement);
  }

  afterEach(takeAway);

  /** With `not valid` the rows that are there already stay, although they do not meet the condition. */
  async function addConstraint(table: string, condition: string, validity = ''): Promise<void> {
    await writer().database.pool.query(
      `alter table ${table} add constraint added_by_dba check (${condition}) ${validity}`,
    );
    added.push(`alter table ${table} drop constraint added_by_dba`);
  }

  /** Has a trigger refuse the rows for which the condition holds, at the end of the transaction where `isLate`. */
  async function addTrigger(
    table: string,
    condition: string,
    { errcode, isLate }: { errcode: string; isLate: boolean },
  ): Promise<void> {
    const { pool } = writer().database;
    await pool.query(`create function refuse_row() returns trigger language plpgsql as
      $$ begin raise exception 'the trigger refuses' using errcode = '${errcode}'; end $$`);
    await pool.query(`create constraint trigger refuse after insert or update on ${table}
      ${isLate ? 'deferrable initially deferred' : ''} for each row when (${condition}) execute function refuse_row()`);
    added.push('drop function refuse_row() cascade');
  }

  /**
   * Returns fresh commissions, the first of them with a referral that is neither another's nor in the mirror yet.
   */
  async function freshWithPoisoned(count: number) {
    const { freshMany, database } = writer();
    const commissions = await freshMany(count);
    const { rows } = await database.pool.query<{ id: string; referral_id: string }>(
      `select min(co.id) as id, referral_id
       from program.commissions co join program.sales sale on co.sale_id = sale.id
       where co.id = any($1) and not exists (select from referrals where id = referral_id)
       group by referral_id having count(*) = 1 order by 1`,
      [commissions.map(({ id }) => id)],
    );
    const poisoned = commissions.find(({ id }) => id === rows[0]?.id);
    if (poisoned === undefined) throw new Error('every referral is mirrored already');
    const others = commissions.filter((commission) => commission !== poisoned);
    return { poisoned, others, commissions: [poisoned, ...others], referralId: rows[0]?.referral_id };
  }

  async function askToPay(commissions: readonly ProgramRow[]): Promise<number[]> {
    const asked = await writer().ask(
      ...commissions.map(({ id }) => ({ commission_id: id, action: 'pay' as const, paid_at: PAID_AT })),
    );
    return asked.map(({ id }) => id);
  }

  async function rejectionsOf(id: string | undefined, resource = 'commissions') {
    const { rows } = await writer().database.pool.query<{
      run_id: number | null;
      reason: string;
      payload: object;
      observed_at: string;
    }>(
      `select run_id, reason, payload, observed_at::text from rejected_records where resource = $2 and record_id = $1`,
      [id, resource],
    );
    return rows;
  }

  async function mirroredAmong(commissions: readonly ProgramRow[]): Promise<number> {
    const { rows } = await writer().database.pool.query<{ mirrored: number }>(
      'select count(*) as mirrored from commissions where id = any($1) and paid_at = $2',
      [commissions.map(({ id }) => id), PAID_AT],
    );
    return rows[0]?.mirrored ?? 0;
  }

  async function statesOf(ids: readonly number[]): Promise<Set<string>> {
    const rows = await Promise.all(ids.map((id) => writer().row(id)));
    return new Set(rows.map(({ state }) => state));
  }

  return {
    addConstraint,
    addTrigger,
    takeAway,
    freshWithPoisoned,
    askToPay,
    rejectionsOf,
    mirroredAmong,
    statesOf,
  };
}
