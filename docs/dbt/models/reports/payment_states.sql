-- Made by npm run docs.
select
  state,
  requests,
  oldest_requested_at,
  last_finished_at,
  needing_attention,
  needing_attention_since
from {{ source('mirror_reports', 'payment_states') }}
