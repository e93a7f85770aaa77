-- Made by npm run dbt.
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
