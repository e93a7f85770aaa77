-- Made by npm run docs.
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
