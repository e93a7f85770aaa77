// Statements that show, to whoever has psql, what the verdict and the freshness on the status page are made of.

import { reportsSchema } from '../db/sibling-schema.ts';

/** Returns the statement that gives each resource's freshness. */
export function freshnessSql(schema: string): string {
  return `select resource, changes_as_of, changes_age_seconds, everything_as_of, everything_age_seconds,
  not_covered, last_run_id, last_run_state
from "${reportsSchema(schema)}".freshness;`;
}

/** Returns the statements whose rows decide whether all is well. */
export function verdictSql(schema: string): string {
  return `${freshnessSql(schema)}

select distinct on (resource) resource, id, state, verified, rows_rejected, error_code, error
from "${reportsSchema(schema)}".run_log
where state <> 'skipped'
order by resource, id desc;

select state, count(*) as requests
from "${schema}".commission_updates
group by state;

select resource, count(*) as held_back, count(accepted_at) as accepted
from "${schema}".held_back_deletions
group by resource;

select count(*) as sums_that_differ
from "${schema}".commission_differences
where not is_recent;

select refused_at as secret_refused_since, paused_until
from "${schema}".worker_state, "${schema}".request_budget;`;
}
