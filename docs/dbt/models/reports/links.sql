-- Made by npm run docs.
select
  id,
  affiliate_id,
  url,
  token,
  visitors,
  leads,
  conversions,
  _changed_at
from {{ source('mirror_reports', 'links') }}
