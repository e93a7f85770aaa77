{{ config(materialized='incremental', unique_key='id', on_schema_change='append_new_columns') }}
-- Every referral that was ever mirrored, deleted ones included (_deleted_at). Each run reads only what changed since the
-- run before: _changed_at is in the order of the commits, so nothing is missed. See docs/incremental-loads.md.
select *
from {{ source('mirror', 'referrals') }}
{% if is_incremental() %}
where _changed_at > (select coalesce(max(_changed_at), '1970-01-01') from {{ this }})
{% endif %}
