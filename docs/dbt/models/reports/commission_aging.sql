-- Made by npm run dbt.
select
  month,
  currency,
  commissions,
  paid,
  due,
  overdue,
  pending,
  withheld
from {{ source('mirror_reports', 'commission_aging') }}
