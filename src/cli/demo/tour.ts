// What the demo shows once the mirror is filled: the counts beside the program's own, and questions with answers.

import type { Pool } from 'pg';
import type { RunSummary } from '../../sync/run-summary.ts';
import { type Cell, renderTable } from '../output/render-table.ts';

export interface Example {
  readonly question: string;
  readonly query: string;
}

/** What is asked before anything is paid. */
export const PAYABLE_TODAY: Example = {
  question: 'What would finance pay today?',
  query: `select currency, sum(commissions)::bigint as commissions, count(*) as affiliates, sum(amount)::bigint as cents
from payouts_due
where is_transferable
group by currency
order by currency;`,
};

/** Two queries that an analyst may start from. */
export const TOUR: readonly Example[] = [
  {
    question: 'Which affiliates bring the most paying customers?',
    query: `select a.first_name || ' ' || a.last_name as affiliate, c.name as campaign,
       a.visitors, a.leads, a.conversions
from affiliates a join campaigns c on c.id = a.campaign_id
where a._deleted_at is null
order by a.conversions desc, a.visitors, a.id
limit 5;`,
  },
  {
    question: 'How far did the referrals of each campaign come?',
    query: `select c.name as campaign, count(*) as referrals,
       count(*) filter (where r.conversion_state = 'visitor') as visitor,
       count(*) filter (where r.conversion_state = 'lead') as lead,
       count(*) filter (where r.conversion_state = 'conversion') as conversion
from referrals r
join affiliates a on a.id = r.affiliate_id
join campaigns c on c.id = a.campaign_id
where r._deleted_at is null
group by c.name
order by referrals desc;`,
  },
];

/** Returns the example's answer as a table. */
export async function runExample(pool: Pool, { query }: Example): Promise<string> {
  const { fields, rows } = await pool.query<Cell[]>({ text: query, rowMode: 'array' });
  return renderTable(
    fields.map((field) => field.name),
    rows,
  );
}

export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  readonly programHas: number;
  readonly isVerified: boolean;
}

const TABLES = ['campaigns', 'affiliates', 'links', 'referrals', 'commissions', 'sales'] as const;

/** Returns, for each table, its rows and what the program's own tables hold; for what is listed, its run must agree. */
export async function compareWithProgram(
  pool: Pool,
  programSchema: string,
  runs: readonly RunSummary[],
): Promise<TableComparison[]> {
  const counts = TABLES.map(
    (table) => `select '${table}' as table,
       (select count(*) from ${table} where _deleted_at is null) as rows,
       (select count(*) from ${programSchema}.${table}) as "programHas"`,
  );
  const { rows } = await pool.query<Omit<TableComparison, 'isVerified'>>(counts.join(' union all '));
  return rows.map((comparison) => {
    const run = runs.find(({ resource }) => resource === comparison.table);
    const isRunVerified = run === undefined || (run.verified && run.total_upstream === comparison.programHas);
    return { ...comparison, isVerified: isRunVerified && comparison.rows === comparison.programHas };
  });
}
