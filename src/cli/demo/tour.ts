// What the demo shows: questions with answers, its payments, its counts beside the program's, and a line for each run
// and event.

import { sleepOrAbort } from '../../base/sleep.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { spellToTheSecond } from '../../contract/timestamp.ts';
import type { Pool } from '../../db/connect/shared-pool.ts';
import type { Database } from '../../db/database.ts';
import { requestUpdates } from '../../payments/ask/request-updates.ts';
import { countStates } from '../../payments/select-requests.ts';
import { plainRequest } from '../../payments/update-request.ts';
import type { StateCounts } from '../../payments/write/await-updates.ts';
import type { Reader } from '../../reports/figure.ts';
import type { PayableCommission } from '../../reports/read-payable.ts';
import { readPayoutStates } from '../../reports/read-payouts.ts';
import type { LiveEvent } from '../../sandbox/live.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { print } from '../output/print.ts';
import { type Cell, renderTable } from '../output/render-table.ts';
import { describeRun } from '../sync/render-runs.ts';

interface Example {
  readonly question: string;
  readonly query: string;
}

/** Asked before the payments. */
export const PAYABLE_TODAY: Example = {
  question: 'What would finance pay today?',
  query: `select currency, sum(commissions)::bigint as commissions, count(*) as affiliates, sum(amount)::bigint as cents
from payouts_due
where is_transferable
group by currency
order by currency;`,
};

/** Returns the question for the outcomes of a batch. */
export function outcomeOf(batchId: string): Example {
  return {
    question: 'What became of each payment?',
    query: `select affiliate_name as affiliate, amount as cents, currency, state, outcome
from commission_ledger
where batch = '${batchId}'
order by request;`,
  };
}

/** Prints the question, its SQL, and the answer as a table. */
export async function showExample(pool: Pool, example: Example): Promise<void> {
  print(`\n${example.question}\n\n${example.query.replace(/^/gm, '  ')}\n`);
  print(await runExample(pool, example));
}

/** Returns the answer as a table. */
export async function runExample(pool: Pool, { query }: Pick<Example, 'query'>): Promise<string> {
  const { fields, rows } = await pool.query<Cell[]>({ text: query, rowMode: 'array' });
  const header = fields.map((field) => field.name);
  return renderTable(header, rows);
}

const ASK_AGAIN_MS = 200;

type DueCommission = Pick<PayableCommission, 'commission_id' | 'amount'>;

/** Returns at most so many payable commissions, the oldest first. */
export async function choosePayable(pool: Pool, most: number): Promise<DueCommission[]> {
  const { rows } = await pool.query<DueCommission>(
    `select commission_id, amount from unpaid_commissions
     where is_payable and has_payout_address is not false order by due_at, commission_id limit ${most}`,
  );
  return rows;
}

/**
 * Asks for the payments, which the demo's worker applies; the last one expects a wrong amount. Returns the batch and
 * its counts, once all have ended or the signal aborts.
 */
export async function payDue(
  db: Database,
  due: readonly DueCommission[],
  signal: AbortSignal,
): Promise<{ batchId: string; counts: StateCounts }> {
  const now = spellToTheSecond(Date.now());
  const batchId = `demo ${now}`;
  const requests = due.map(({ commission_id, amount }, index) => {
    const isMistaken = index === due.length - 1;
    return plainRequest({
      commission_id,
      action: 'pay',
      paid_at: now,
      expected_unpaid: true,
      expected_amount: isMistaken ? amount + 100 : amount,
      reason: isMistaken ? 'demo: expects a wrong amount on purpose' : 'demo',
    });
  });
  const asked = await requestUpdates({ db }, requests, { batchId, requestedBy: 'demo' });
  const ids = asked.map(({ id }) => id);
  let counts = await countStates(db, ids);
  while (counts.pending !== undefined && !signal.aborted) {
    await sleepOrAbort(ASK_AGAIN_MS, signal);
    counts = await countStates(db, ids);
  }
  return { batchId, counts };
}

/** Returns how many payouts the API has, and what is due of them, in a sentence. */
export async function describePayouts(reader: Reader, money: MoneyFormat): Promise<string> {
  const { rows } = await readPayoutStates(reader);
  const due = rows.filter(({ state }) => state === 'due');
  const count = (lines: typeof rows) => lines.reduce((sum, { payouts }) => sum + payouts, 0);
  const sums = due.map(({ amount, currency }) => money.format(BigInt(amount), currency));
  const listed = sums.length === 0 ? '' : `: ${sums.join(', ')} ("payouts list" shows them)`;
  return `The API bundles commissions in ${counted(count(rows), 'payout')}; ${formatCount(count(due))} of them due${listed}.`;
}

const TABLES = ['campaigns', 'affiliates', 'links', 'referrals', 'commissions', 'sales', 'payouts'] as const;

interface TableCounts {
  readonly table: string;
  readonly rows: number;
  readonly programHas: number;
}

/**
 * Prints the rows of each table beside the program's own. Returns whether they are equal, and the runs of the listed
 * resources agree.
 */
export async function showComparison(
  pool: Pool,
  programSchema: string,
  runs: readonly RunSummary[],
): Promise<boolean> {
  const counts = TABLES.map(
    (table) => `select '${table}' as table,
       (select count(*) from ${table} where _deleted_at is null) as rows,
       (select count(*) from ${programSchema}.${table}) as "programHas"`,
  );
  const found = await pool.query<TableCounts>(counts.join(' union all '));
  const lines = found.rows.map(({ table, rows, programHas }) => {
    const run = runs.find(({ resource }) => resource === table);
    const isRunVerified = run === undefined || (run.verified && run.total_upstream === programHas);
    return [table, rows, programHas, isRunVerified && rows === programHas];
  });
  print('\nWhat was mirrored, and what the API itself says it has:');
  print(renderTable(['table', 'rows', 'API has', 'verified'], lines));
  return lines.every(([, , , isVerified]) => isVerified === true);
}

/** Tells a run after the first sync. */
export function tellRun(run: RunSummary): void {
  tell(`${run.mode} sync of ${describeRun(run)}`);
}

/** Tells an event of the program. Visits are left out: they are more than half of the events. */
export function tellEvent({ kind }: LiveEvent): void {
  if (!kind.startsWith('visit')) tell(`in the affiliate program: ${kind.replaceAll('_', ' ')}`);
}

function tell(what: string): void {
  print(`${new Date().toISOString().slice(11, 19)}  ${what}`);
}
