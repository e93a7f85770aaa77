// Payments and payouts in a fleet: asked for as SQL users do, begun in time, and made once.

import { expect } from 'vitest';
import { type Fleet, type FleetProgram, IS_EXACT } from './fleet.ts';

/** A payment begins within so many seconds after it was asked for, whatever the other programs do. As for a delta. */
const PAYMENT_BEGINS_WITHIN = IS_EXACT ? 5 : 25;
/** A payout that is paid is processing for so long. */
const PROCESSING_MS = 300;
const PAID_AT = '2026-10-05T12:00:00.000Z';

export interface Payer {
  readonly program: FleetProgram;
  /** Asks for the payment of so many further commissions. */
  pay(count: number): Promise<void>;
  /** Asks for a further payout. */
  payOut(): Promise<void>;
  /** Returns how many requests have not ended. */
  pending(): Promise<number>;
  /** Returns the requests, of all until now, that began too late. */
  findLate(): Promise<object[]>;
  /** Checks that all ended as applied, and that the program shows each change, made once. */
  expectPaidOnce(): Promise<void>;
}

/** Has every commission of the programs be unpaid, unless it is voided, and notes each time that one is paid from now on. */
export async function preparePayments({ origin }: Fleet, programs: readonly FleetProgram[]): Promise<void> {
  await origin.query(`
    create table public.paid (program text, id text);
    create function public.note_paid() returns trigger language plpgsql as
      'begin insert into public.paid values (tg_table_schema, new.id); return null; end'`);
  for (const { origin: schema, sandbox } of programs) {
    await sandbox.program.setProcessing(PROCESSING_MS);
    await origin.query(
      `update ${schema}.commissions set state = 'due', paid_at = null, payout_id = null where voided_at is null;
       delete from ${schema}.payouts`,
    );
    await origin.query(
      `create trigger note_paid after update on ${schema}.commissions for each row
       when (new.paid_at is distinct from old.paid_at) execute function public.note_paid()`,
    );
  }
}

export function makePayer({ origin }: Fleet, program: FleetProgram): Payer {
  const { pool, sandbox } = program;
  const commissions: string[] = [];
  const payouts: string[] = [];
  const ask = (requests: readonly object[]) =>
    pool.query(`select * from ask_for_updates($1::jsonb, null, 'finance')`, [JSON.stringify(requests)]);
  return {
    program,
    async pay(count) {
      const { rows } = await origin.query<{ id: string }>(
        `select id from ${program.origin}.commissions
         where paid_at is null and voided_at is null and payout_id is null and id <> all($1) order by id limit $2`,
        [commissions, count],
      );
      expect(rows, `unpaid commissions of ${program.name}`).toHaveLength(count);
      const ids = rows.map(({ id }) => id);
      commissions.push(...ids);
      await ask(ids.map((commission_id) => ({ commission_id, action: 'pay', paid_at: PAID_AT })));
    },
    async payOut() {
      const { id } = await sandbox.program.insertPayout();
      payouts.push(id);
      await ask([{ payout_id: id, action: 'pay' }]);
    },
    async pending() {
      const { rowCount } = await pool.query(`select from commission_updates where state = 'pending'`);
      return rowCount ?? 0;
    },
    async findLate() {
      const { rows } = await pool.query<object>(
        `select * from (
           select $1::text as program, id, requested_at, (
             select extract(epoch from min(sent_at) - requested_at)::float8 from commission_update_attempts
             where update_id = asked.id) as began_after
           from commission_updates asked) begun
         where coalesce(began_after, extract(epoch from clock_timestamp() - requested_at)) > ${PAYMENT_BEGINS_WITHIN}`,
        [program.name],
      );
      return rows;
    },
    async expectPaidOnce() {
      const { rows } = await pool.query<{ subject: string; state: string; outcome: string }>(
        `select coalesce(commission_id, payout_id) as subject, state, outcome from commission_updates`,
      );
      expect(rows.filter(({ state }) => state !== 'applied')).toEqual([]);
      expect(rows.map(({ subject }) => subject).sort()).toEqual([...commissions, ...payouts].sort());
      const paid = await origin.query<{ id: string; paid_at: string; times: number }>(
        `select id, paid_at, (select count(*) from public.paid where paid.program = $1 and paid.id = c.id) as times
         from ${program.origin}.commissions c where id = any($2) or payout_id = any($3)`,
        [program.origin, commissions, payouts],
      );
      expect(paid.rows.length).toBeGreaterThanOrEqual(commissions.length + payouts.length);
      expect(paid.rows.filter(({ times, paid_at }) => times !== 1 || paid_at === null)).toEqual([]);
      const asked = paid.rows.filter(({ id }) => commissions.includes(id));
      expect(new Set(asked.map(({ paid_at }) => new Date(paid_at).toISOString()))).toEqual(
        new Set(commissions.length > 0 ? [PAID_AT] : []),
      );
    },
  };
}
