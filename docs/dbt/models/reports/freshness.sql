-- Made by npm run dbt.
select
  resource,
  everything_as_of,
  everything_age_seconds,
  changes_as_of,
  changes_age_seconds,
  not_covered,
  last_run_state,
  last_run_started_at,
  last_run_id
from {{ source('mirror_reports', 'freshness') }}
