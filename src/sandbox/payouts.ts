// Payouts, as seen in the wild: how they are put together, paid and shown. GET /v1/payouts is in lists.ts.
//
// Decisions where the contract is silent:
// - Only a payout that is `due` can be paid; any other is 422. An unknown one is 404.
// - It is `processing` for a while (sandbox_program.processing_ms; null: for ever). Then it is paid, and so are its
//   commissions: those that are paid by then keep their time. The next request to the sandbox makes it so.
// - Its amount is the sum of its commissions when they were put in it. One that is paid, voided or changed since stays
//   in it with that amount; one that is deleted leaves it.
// - The seeded program has up to four payouts for the paid commissions of each affiliate in each currency, one for the
//   due and one for the pending ones; a third of the commissions are in none.

import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Answer } from './commissions.ts';
import { insertRows, type Moment, type Pool, type Queryable, type ReadRows } from './data.ts';
import { type CommissionRow, complete, type PayoutRow } from './rows.ts';
import type { WireFormat } from './wire.ts';

export interface PayoutDeps {
  readonly readRows: ReadRows;
  readonly pool: Pool;
  readonly wire: WireFormat;
  /** The schema, quoted. */
  readonly s: string;
}

/** The user who pays by the API. */
const PAYER = uuidOf('payer');

/** Returns the seeded payout of the commission; null if it is in none. */
export function seededPayoutOf(commission: CommissionRow): string | null {
  const { id, affiliate_id, currency, state } = commission;
  const number = Number.parseInt(id.slice(0, 8), 16);
  if (number % 3 === 0 || state === 'voided') return null;
  return uuidOf(`payout ${affiliate_id} ${currency} ${state} ${state === 'paid' ? number % 4 : ''}`);
}

/** Inserts the payouts that the seeded commissions name. */
export async function seedPayouts(client: pg.PoolClient, s: string): Promise<void> {
  await client.query(
    `insert into ${s}.payouts (id, created_at, updated_at, affiliate_id, currency, amount, state, paid_at, paid_by_id)
     select payout_id, coalesce(max(paid_at) - interval '1 hour', made_at), coalesce(max(paid_at), made_at),
            affiliate_id, currency, sum(amount), state, max(paid_at), case when state = 'paid' then $1 end
       from (select *, max(case when state = 'due' then due_at else created_at end) over (partition by payout_id)
                      as made_at
               from ${s}.commissions where payout_id is not null) c
      group by payout_id, affiliate_id, currency, state, made_at`,
    [PAYER],
  );
}

/** Returns 200 with the payout, its affiliate and its commissions, or 404. Source: contract, Payouts. */
export async function getPayout({ readRows, wire, s }: PayoutDeps, id: string): Promise<Answer> {
  const nested = nestedInPayout(wire, s, 'p');
  const more = Object.entries(nested).map(([name, { json }]) => [name, json] as const);
  const joins = Object.values(nested).map((one) => one.joins);
  const statement = `select ${wire.payout('p', ...more)}::text as body from ${s}.payouts p ${joins.join(' ')} where p.id = $1`;
  const [row] = await readRows<{ body: string }>(statement, [id]);
  if (row !== undefined) return { status: 200, body: row.body };
  return { status: 404, body: JSON.stringify({ error: `Payout not found: ${id}` }) };
}

/** The JSON of what may be expanded in the payout of that alias, and the joins that it needs. */
export function nestedInPayout(wire: WireFormat, s: string, payout: string) {
  return {
    affiliate: {
      json: wire.affiliate('a'),
      joins: `join ${s}.affiliates a on a.id = ${payout}.affiliate_id`,
    },
    commissions: {
      json: `(select coalesce(json_agg(${wire.paidOut('co')} order by co.created_at, co.id), '[]')
                from ${s}.commissions co where co.payout_id = ${payout}.id)`,
      joins: '',
    },
  };
}

/** Returns 200 with the payout, which is processing from now on, 404 or 422. Source: contract, Payouts. */
export async function payPayout(deps: PayoutDeps, id: string): Promise<Answer> {
  const isTaken = await beginPaying(deps.pool, deps.s, id);
  const found = await getPayout(deps, id);
  if (isTaken || found.status !== 200) return found;
  const details = ['State is not due'];
  return { status: 422, body: JSON.stringify({ error: 'Could not pay payout', details }) };
}

/** Returns whether the payout was due. Waits for all writers before it takes any other lock: see createTriggersSql. */
export async function beginPaying(db: Queryable, s: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${s}.payouts p
        set state = 'processing', paid_by_id = $2, updated_at = clock_timestamp(),
            processing_until = coalesce(clock_timestamp() + locked.processing_ms * interval '1 ms', 'infinity')
       from (select processing_ms from ${s}.sandbox_program for update) locked
      where p.id = $1 and p.state = 'due'`,
    [id, PAYER],
  );
  return rowCount === 1;
}

/** Makes those payouts paid whose time has come. */
export async function settlePayouts(db: Queryable, s: string): Promise<void> {
  const ripe = await db.query(`select from ${s}.payouts where processing_until <= clock_timestamp() limit 1`);
  if (ripe.rowCount === 0) return;
  await db.query(
    `with paid as (
       update ${s}.payouts p
          set state = 'paid', paid_at = processing_until, updated_at = clock_timestamp(), processing_until = null
         from (select from ${s}.sandbox_program for update) locked
        where p.processing_until <= clock_timestamp()
       returning p.id, p.paid_at
     )
     update ${s}.commissions c
        set paid_at = paid.paid_at, updated_at = clock_timestamp(),
            state = case when c.voided_at is null then 'paid' else 'voided' end
       from paid where c.payout_id = paid.id and c.paid_at is null`,
  );
}

/** What a payout is made of. */
export interface PayoutFields extends Partial<PayoutRow> {
  /** Left out: due ones of one affiliate in one currency, which are in no payout; all but one, if they are several. */
  readonly commissionIds?: readonly string[];
}

/** Returns a payout that is due, unless the fields say otherwise; null if there is no commission for it. */
export async function addPayout(
  m: Moment,
  { commissionIds, ...fields }: PayoutFields = {},
): Promise<PayoutRow | null> {
  const { rows } = await m.client.query<Pick<CommissionRow, 'id' | 'affiliate_id' | 'currency' | 'amount'>>(
    `select id, affiliate_id, currency, amount::float8 as amount from ${m.s}.commissions
      where case when $1::text[] is null
                 then state = 'due' and payout_id is null and affiliate_id = coalesce($2, affiliate_id)
                 else id = any($1) end
      order by created_at desc, id desc limit 1000`,
    [commissionIds ?? null, fields.affiliate_id ?? null],
  );
  if (rows.length === 0) return null;
  const { affiliate_id, currency } = m.randomness.pick(rows);
  const alike = rows.filter((row) => row.affiliate_id === affiliate_id && row.currency === currency);
  const chosen = commissionIds === undefined && alike.length > 1 ? alike.slice(1) : alike;
  const now = m.now.toISOString();
  const payout = complete('payouts', {
    id: m.randomness.uuid(),
    created_at: now,
    updated_at: now,
    affiliate_id,
    currency,
    amount: chosen.reduce((sum, { amount }) => sum + amount, 0),
    state: 'due',
    paid_at: null,
    paid_by_id: null,
    processing_until: null,
    ...fields,
  });
  await insertRows(m.client, m.s, 'payouts', [payout]);
  const ids = chosen.map(({ id }) => id);
  await m.client.query(`update ${m.s}.commissions set payout_id = $1 where id = any($2)`, [payout.id, ids]);
  return payout;
}

/** Puts one more commission in the payout, whose amount grows by its own. Returns whether both exist. */
export async function addToPayout(m: Moment, payoutId: string, commissionId: string): Promise<boolean> {
  const { rowCount } = await m.client.query(
    `with added as (update ${m.s}.commissions set payout_id = $1 where id = $2 returning amount)
     update ${m.s}.payouts p set amount = p.amount + added.amount, updated_at = $3 from added where p.id = $1`,
    [payoutId, commissionId, m.now],
  );
  return rowCount === 1;
}

/** Pays the payout at once, in any state. Returns whether it was unpaid. */
export async function finishPayout(m: Moment, id: string): Promise<boolean> {
  const { rowCount } = await m.client.query(
    `update ${m.s}.payouts set paid_by_id = coalesce(paid_by_id, $2), processing_until = $3
      where id = $1 and state <> 'paid'`,
    [id, uuidOf('another payer'), m.now],
  );
  await settlePayouts(m.client, m.s);
  return rowCount === 1;
}

function uuidOf(text: string): string {
  const digest = createHash('md5').update(text).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
