-- Made by npm run dbt.
select
  resource,
  everything_as_of,
  everything_age_seconds,
  changes_as_of,
  changes_age_seconds,
  deltas_since_everything,
  not_covered,
  rejected_records,
  rejected_since,
  deletions_held_back,
  deletions_held_back_since,
  deletions_accepted,
  last_run_id,
  last_run_state,
  last_run_verified,
  last_run_started_at,
  last_run_saved_at,
  last_run_saved_age_seconds,
  last_run_finished_at,
  last_run_error_code,
  last_run_error
from {{ source('mirror_reports', 'freshness') }}
