-- Made by npm run docs.
select
  used_requests,
  used_by_payments,
  foreign_requests,
  limit_requests,
  paused_until,
  last_throttled_at,
  secret_refused_since,
  program_changed_since
from {{ source('mirror_reports', 'request_usage') }}
