-- Made by npm run dbt.
select
  table_name,
  rows,
  deleted
from {{ source('mirror_reports', 'table_rows') }}
