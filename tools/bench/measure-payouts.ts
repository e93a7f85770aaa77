// How many requests it takes to pay commissions as payouts, beside the same commissions one by one: everything that the
// sandbox receives from the first payment on, until a sync has the mirror equal the program.

import { once } from 'node:events';
import { makeLogger } from '../../src/base/log.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import { insertRows, type Moment } from '../../src/sandbox/data.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { inventCommission, inventReferral, inventSale } from '../../src/sandbox/invent.ts';
import { type AffiliateRow, type CampaignRow, complete } from '../../src/sandbox/rows.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import type { BenchDatabase } from './bench-database.ts';
import { untilNothingIsPending } from './measure-commissions.ts';
import { type BenchDeps, syncOnce } from './measure-round.ts';
import { endChild } from './start-child.ts';
import { type CommandOptions, startCommand } from './start-command.ts';

export interface PayoutSizes {
  readonly payouts: number;
  /** How long the program is at paying one. */
  readonly processingMs: readonly number[];
}

const COMMISSIONS_OF_EACH = 20;
const MOST_REQUESTS = 1_600;
const LEAST_TIMES_FEWER = 12;
const AS_PAYOUTS = `insert into mirror.commission_updates
    (payout_id, action, expected_amount, expected_currency, expected_commissions)
  select id, 'pay', amount, currency, ${COMMISSIONS_OF_EACH} from mirror.payouts where state = 'due'`;
const ONE_BY_ONE = `insert into mirror.commission_updates (commission_id, action, paid_at)
  select id, 'pay', '2026-10-05T12:00:00Z' from mirror.commissions where state = 'due'`;

export async function measurePayouts(deps: BenchDeps, { payouts, processingMs }: PayoutSizes): Promise<void> {
  const { figures, say } = deps;
  const commissions = payouts * COMMISSIONS_OF_EACH;
  say('commissions paid one by one');
  // Few are enough: each takes as many requests.
  const few = await pay(deps, { affiliates: 5, processingMs: null });
  const oneByOne = (few.payments / (5 * COMMISSIONS_OF_EACH)) * commissions;
  for (const ms of processingMs) {
    const paid = `${payouts} payouts of ${commissions.toLocaleString('en')} commissions, ${ms / 1000} s each`;
    say(paid);
    const { payments, sync } = await pay(deps, { affiliates: payouts, processingMs: ms });
    const all = payments + sync;
    figures.add(`${paid}: requests until the mirror equals the program`, '', all, { most: MOST_REQUESTS });
    figures.add(`${paid}: of those, of the sync`, '', sync);
    figures.add(`${paid}: fewer than one by one`, '×', oneByOne / all, { least: LEAST_TIMES_FEWER });
  }
}

/** `processingMs`: null pays the commissions one by one. Returns the requests; those of the first sync do not count. */
async function pay(
  deps: BenchDeps,
  { affiliates, processingMs }: { affiliates: number; processingMs: number | null },
): Promise<{ payments: number; sync: number }> {
  const database = await deps.postgres.createDatabase();
  const log = makeLogger('error');
  const pool = makePool({ log }, { url: database.url, schema: 'program', max: 8, applicationName: 'bench' });
  const sandbox = await startSandbox(
    { pool, log },
    {
      schema: 'program',
      host: '127.0.0.1',
      port: 0,
      secret: 'bench',
      seed: 1,
      affiliates,
      referrals: 0,
      rateLimit: null,
      faults: NO_FAULTS,
      live: null,
      reset: false,
      optionalLists: ['campaigns', 'commissions', 'payouts'],
    },
  );
  try {
    await sandbox.program.moment((moment) => addCommissions(moment, processingMs !== null));
    await sandbox.program.setProcessing(processingMs);
    await syncOnce(deps, database, sandbox.url);
    const received = () => sandbox.requests.at(-1)?.number ?? 0;
    const before = received();
    await payThroughWorker(deps, database, sandbox, processingMs === null ? ONE_BY_ONE : AS_PAYOUTS);
    const payments = received() - before;
    await syncOnce(deps, database, sandbox.url, '--mode', 'delta');
    await expectEqual(database, affiliates * COMMISSIONS_OF_EACH);
    return { payments, sync: received() - before - payments };
  } finally {
    await sandbox.close();
    await pool.end();
    await database.drop();
  }
}

/** Adds commissions that are due, of each affiliate, and, where asked to, a payout that is due of all of them. */
async function addCommissions(moment: Moment, inPayouts: boolean): Promise<void> {
  const { client, s, randomness, now } = moment;
  const { rows } = await client.query<{ affiliate: AffiliateRow; campaign: CampaignRow }>(
    `select to_jsonb(a) as affiliate, to_jsonb(c) as campaign
       from ${s}.affiliates a join ${s}.campaigns c on c.id = a.campaign_id order by a.id`,
  );
  const made = rows.map(({ affiliate, campaign }, index) => {
    // The head of a list ends where older records begin: not all can be of one moment.
    const createdAt = new Date(now.getTime() - 60 * 86_400_000 - index * 60_000);
    const origin = { affiliate_id: affiliate.id, link_id: null, conversion_state: 'conversion', createdAt };
    const referral = inventReferral(moment, { ...origin, asOf: now });
    const payout = complete('payouts', {
      id: randomness.uuid(),
      created_at: createdAt.toISOString(),
      updated_at: now.toISOString(),
      affiliate_id: affiliate.id,
      currency: 'USD',
      state: 'due',
      paid_at: null,
      paid_by_id: null,
      processing_until: null,
    });
    const sales = Array.from({ length: COMMISSIONS_OF_EACH }, () =>
      inventSale(moment, referral, { createdAt, currency: 'USD', isRefunded: false }),
    );
    const payout_id = inPayouts ? payout.id : null;
    const commissions = sales.map((sale) => {
      const commission = inventCommission(randomness, sale, campaign, now);
      return { ...commission, paid_at: null, state: 'due', payout_id };
    });
    const amount = commissions.reduce((sum, commission) => sum + commission.amount, 0);
    return { referral, payout: { ...payout, amount }, sales, commissions };
  });
  await insertRows(
    client,
    s,
    'referrals',
    made.map(({ referral }) => referral),
  );
  await insertRows(
    client,
    s,
    'sales',
    made.flatMap(({ sales }) => sales),
  );
  if (inPayouts)
    await insertRows(
      client,
      s,
      'payouts',
      made.map(({ payout }) => payout),
    );
  await insertRows(
    client,
    s,
    'commissions',
    made.flatMap(({ commissions }) => commissions),
  );
}

async function payThroughWorker(
  deps: BenchDeps,
  database: BenchDatabase,
  { url }: Sandbox,
  requests: string,
): Promise<void> {
  const environment = {
    AFFILIATE_API_URL: url,
    AFFILIATE_API_SECRET: 'bench',
    DATABASE_URL: database.url,
    API_RATE_LIMIT: 'none',
    SYNC_FULL_CRON: '',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
    LOG_LEVEL: 'warn',
  };
  const options: CommandOptions = { environment, stdio: ['ignore', 'ignore', 'inherit'] };
  // The tables of the queue.
  await once(startCommand(deps, ['migrate'], options), 'exit');
  const worker = startCommand(deps, ['work'], options);
  await database.pool.query(requests);
  await untilNothingIsPending(database, worker);
  await endChild(worker, 'SIGTERM');
}

/** Throws: an Error unless the mirror has every commission as paid, just as the program has it, and every payout. */
async function expectEqual({ pool }: BenchDatabase, commissions: number): Promise<void> {
  const { rows } = await pool.query<{ equal: number; payouts: number }>(
    `select (select count(*)::int from mirror.commissions here join program.commissions there on here.id = there.id::text
              where here.state = 'paid' and there.state = 'paid' and here.paid_at = there.paid_at
                and here.payout_id is not distinct from there.payout_id::text) as equal,
            (select count(*)::int from mirror.payouts here full join program.payouts there on here.id = there.id::text
              where (here.state, here.paid_at) is distinct from (there.state, there.paid_at)) as payouts`,
  );
  const { equal, payouts } = rows[0] ?? { equal: 0, payouts: 0 };
  if (equal === commissions && payouts === 0) return;
  throw new Error(
    `the mirror has ${equal} of ${commissions} commissions as paid, and ${payouts} payouts otherwise`,
  );
}
