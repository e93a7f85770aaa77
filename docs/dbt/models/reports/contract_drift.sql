-- Made by npm run docs.
select
  resource,
  field,
  kind,
  found,
  occurrences,
  run_id
from {{ source('mirror_reports', 'contract_drift') }}
