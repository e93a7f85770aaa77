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
  const reports = reportsSchema(schema);
  return `select resource, changes_age_seconds, rejected_records, deletions_held_back, deletions_accepted, last_run_state,
  last_run_verified, last_run_saved_at, last_run_saved_age_seconds, last_run_error_code, last_run_error
from "${reports}".freshness;

select state, requests, needing_attention, needing_attention_since
from "${reports}".payment_states;

select differences
from "${reports}".commission_coverage;

select secret_refused_since, program_changed_since, paused_until, last_throttled_at
from "${reports}".request_usage;

select books, compared_at, differing
from "${schema}".books_comparisons;`;
}
