// GET and PUT /v1/commissions/:id.
//
// Decisions where the contract is silent:
// - An unknown commission is 404 also on PUT, with any body; so is an id that is no UUID.
// - A time that is not ISO 8601 is 422 and changes nothing, also if the other parameter is valid. Only an empty
//   `paid_at` clears it; blanks are not a time, 422.
// - A PUT that sends neither parameter changes nothing; every other one moves `updated_at`, also if the value stays
//   the same. Parameters in the address, unknown ones and those in array form are ignored.
// - A commission's state (shown by the spelling `live`, and if commissions are listed) follows its times when it
//   is written: voided, paid, or due and pending by `due_at`; it then stays until the next write or until a live step
//   lets it fall due.
// - In the spelling `live`, a time sent comes back cut to the second, as seen in the wild.

import { findTimestampProblem, splitTimestamp } from '../contract/timestamp.ts';
import type { ReadRows } from './data.ts';
import { readSingle } from './query-parameters.ts';
import type { Spelling, WireFormat } from './wire.ts';

export interface CommissionDeps {
  readonly readRows: ReadRows;
  readonly wire: WireFormat;
  readonly spelling: Spelling;
  /** The schema, quoted. */
  readonly s: string;
}

export interface Answer {
  readonly status: number;
  /** The text of a JSON document. */
  readonly body: string;
}

/** Returns 200 with the commission, or 404. Source: contract, Retrieve commission. */
export async function getCommission(deps: CommissionDeps, id: string): Promise<Answer> {
  return read(deps, id, `select * from ${deps.s}.commissions where id = $1`, []);
}

/** Returns 200 with the changed commission, 404 or 422. Source: contract, Update commission. */
export async function putCommission(
  deps: CommissionDeps,
  id: string,
  parameters: URLSearchParams,
): Promise<Answer> {
  const found = await getCommission(deps, id);
  if (found.status !== 200) return found;

  const paidAt = readSingle(parameters, 'paid_at');
  const dueAt = readSingle(parameters, 'due_at');
  const details: string[] = [];
  if (paidAt !== undefined && paidAt !== '' && findTimestampProblem(paidAt) !== null) {
    details.push('Paid at is not an ISO 8601 time');
  }
  if (dueAt?.trim() === '') details.push("Due at can't be blank");
  else if (dueAt !== undefined && findTimestampProblem(dueAt) !== null) {
    details.push('Due at is not an ISO 8601 time');
  }
  if (details.length > 0) {
    return { status: 422, body: JSON.stringify({ error: 'Could not update commission', details }) };
  }
  if (paidAt === undefined && dueAt === undefined) return found;

  const time = (text: string | undefined) => {
    if (text === undefined || text === '') return null;
    const { ms, fraction } = splitTimestamp(text);
    const millis = deps.spelling === 'live' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
    return new Date(ms + millis).toISOString();
  };
  // Waits for all writers before it takes any other lock: see createTriggersSql.
  return read(
    deps,
    id,
    `update ${deps.s}.commissions t set
       paid_at = case when $2::boolean then $3::timestamptz else paid_at end,
       due_at = coalesce($4::timestamptz, due_at),
       state = case when voided_at is not null then 'voided'
                    when case when $2 then $3 else paid_at end is not null then 'paid'
                    when coalesce($4, due_at) <= now() then 'due' else 'pending' end,
       updated_at = clock_timestamp()
       from (select from ${deps.s}.sandbox_program for update) locked
     where id = $1 returning t.*`,
    [paidAt !== undefined, time(paidAt), time(dueAt)],
  );
}

async function read(
  deps: CommissionDeps,
  id: string,
  source: string,
  values: readonly unknown[],
): Promise<Answer> {
  const { wire, s } = deps;
  const sale = nestedSale(wire, s, 'co.sale_id');
  const statement = `
    with co as (${source})
    select ${wire.commission('co', ['campaign', wire.campaign('c')], ['sale', sale.json])}::text as body
      from co
      join ${s}.campaigns c on c.id = co.campaign_id
      ${sale.joins}`;
  const [row] = await deps.readRows<{ body: string }>(statement, [id, ...values]);
  if (row !== undefined) return { status: 200, body: row.body };
  return { status: 404, body: JSON.stringify({ error: `Commission not found: ${id}` }) };
}

/** Returns the sale of that id with its referral and affiliate: its JSON, and the joins that it needs. */
export function nestedSale(wire: WireFormat, s: string, saleId: string): { json: string; joins: string } {
  const affiliate = wire.affiliate('a', ['campaign', wire.campaign('ac')]);
  return {
    json: wire.sale('sa', ['referral', wire.referral('r', 'l')], ['affiliate', affiliate]),
    joins: `join ${s}.sales sa on sa.id = ${saleId}
            join ${s}.referrals r on r.id = sa.referral_id
            left join ${s}.links l on l.id = r.link_id
            join ${s}.affiliates a on a.id = sa.affiliate_id
            join ${s}.campaigns ac on ac.id = a.campaign_id`,
  };
}
