-- Made by npm run docs.
select
  table_name,
  rows,
  deleted
from {{ source('mirror_reports', 'table_rows') }}
