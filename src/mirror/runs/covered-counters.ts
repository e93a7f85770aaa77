// Stores each affiliate's counters from before its referrals were read (covered_counters), for delta syncs.

import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { transact } from '../../db/transact.ts';
import { holdRun, type OwnRun } from './sync-runs.ts';

/**
 * Stores the present counters of every affiliate for the run. Must be called before the run reads its first referral,
 * so that a later change is noticed. Idempotent: yes; the first counters stay.
 *
 * Throws: Busy if the run has ended, or another process has taken it over.
 */
export async function noteCounters(db: Database, run: OwnRun): Promise<void> {
  await transact(db, async (trx) => {
    await holdRun(trx, run);
    await sql`
      insert into covered_counters (affiliate_id, run_id, visitors, leads, conversions)
      select id, ${run.id}, coalesce(visitors, 0), coalesce(leads, 0), coalesce(conversions, 0)
      from affiliates
      on conflict do nothing`.execute(trx);
  });
}

/**
 * Deletes all counters that this run's replace; those of affiliates without counters in this run stay. Deletes this
 * run's too if the run has read other counters since: its referrals may fit either, and a change back would go
 * unnoticed. To be called in the transaction that ends a verified run.
 */
export async function replaceCounters(trx: DatabaseTransaction, runId: number): Promise<void> {
  await sql`
    delete from covered_counters old using covered_counters new
    where new.run_id = ${runId} and old.affiliate_id = new.affiliate_id and old.run_id < ${runId}`.execute(
    trx,
  );
  await sql`
    delete from covered_counters noted using affiliates read
    where noted.run_id = ${runId} and read.id = noted.affiliate_id
      and (noted.visitors, noted.leads, noted.conversions)
        is distinct from (coalesce(read.visitors, 0), coalesce(read.leads, 0), coalesce(read.conversions, 0))`.execute(
    trx,
  );
}

export interface Counters {
  readonly visitors: number;
  readonly leads: number;
  readonly conversions: number;
}

export interface CounterChange {
  readonly affiliate_id: string;
  /** The counters from when all of its referrals were last mirrored; zeros if they never were. */
  readonly covered: Counters;
  readonly current: Counters;
  /** What the new rows at the head add to each counter. */
  readonly explained: Counters;
  /** Referrals of the affiliate in the mirror: the expected length of its list. */
  readonly rows: number;
}

/**
 * Returns the affiliates whose counters changed since their referrals were last covered, or who have new referrals
 * since the run began. The current counters are those that noteCounters stored.
 *
 * Source: contract, Counters.
 */
export async function readCounterChanges(db: Database, runId: number): Promise<readonly CounterChange[]> {
  const { rows } = await sql<CounterChange>`
    -- Materialized: Postgres knows nothing of a run that has just begun, and would read both anew for each affiliate.
    with covered as materialized (
      select distinct on (c.affiliate_id) c.affiliate_id, c.visitors, c.leads, c.conversions
      from covered_counters c join sync_runs r on r.id = c.run_id
      where r.verified
      order by c.affiliate_id, c.run_id desc
    ), explained as materialized (
      select affiliate_id, count(*) as visitors,
        count(*) filter (where conversion_state in ('lead', 'conversion')) as leads,
        count(*) filter (where conversion_state = 'conversion') as conversions
      from referrals
      where _first_seen_at >= (select started_at from sync_runs where id = ${runId}) and affiliate_id is not null
      group by affiliate_id
    ), counters as (
      select now.affiliate_id,
        coalesce(c.visitors, 0) as c_visitors, coalesce(c.leads, 0) as c_leads,
        coalesce(c.conversions, 0) as c_conversions,
        now.visitors, now.leads, now.conversions,
        coalesce(e.visitors, 0) as e_visitors, coalesce(e.leads, 0) as e_leads,
        coalesce(e.conversions, 0) as e_conversions
      from covered_counters now
      left join covered c using (affiliate_id)
      left join explained e using (affiliate_id)
      where now.run_id = ${runId}
    )
    select affiliate_id,
      jsonb_build_object('visitors', c_visitors, 'leads', c_leads, 'conversions', c_conversions) as covered,
      jsonb_build_object('visitors', visitors, 'leads', leads, 'conversions', conversions) as current,
      jsonb_build_object('visitors', e_visitors, 'leads', e_leads, 'conversions', e_conversions) as explained,
      (select count(*) from referrals r where r.affiliate_id = counters.affiliate_id and r._deleted_at is null) as rows
    from counters
    where (visitors, leads, conversions) is distinct from (c_visitors, c_leads, c_conversions) or e_visitors > 0
    order by affiliate_id`.execute(db);
  return rows;
}
