-- Made by npm run docs.
select
  setting,
  is_served,
  is_used,
  found_at,
  asked_at,
  problem,
  differences,
  tracked,
  due_polls,
  unanswered,
  gone,
  next_poll_at
from {{ source('mirror_reports', 'commission_coverage') }}
