-- When referrals converted.

-- A conversion that the mirror saw happen is in its history. One from before that is known by the program's own word,
-- where it sends became_conversion_at (seen in the wild). The state may be seen before that, since a referral within a
-- commission need not have all of its fields: what comes later is about the first conversion that was seen after it.
create or replace view conversion_events as
-- Put together for both uses, it would keep Postgres from reading with several workers.
with seen as not materialized (
  select history.id,
         history.record_id as referral_id,
         history.before ->> 'conversion_state' as from_state,
         (history.after ->> 'became_conversion_at')::timestamptz as stated_at,
         history.observed_at,
         history.run_id
  from record_history history
  where history.table_name = 'referrals'
    and history.after ->> 'conversion_state' = 'conversion'
), first_seen as not materialized (
  select referral_id, min(id) as id from seen group by referral_id
), stated as not materialized (
  -- What the program stated before the mirror saw a conversion, of referrals of which it stated something else since.
  -- What it stated when the first was seen counts, or else what it stated last before that: it may forget the time of a
  -- conversion that is over.
  select history.record_id as referral_id,
         coalesce(bool_or(history.id >= first_seen.id), false) as is_restated,
         bool_or(first_seen.id is not null) as is_seen,
         coalesce(
           (array_agg(history.before ->> 'became_conversion_at' order by history.id)
              filter (where history.id >= first_seen.id))[1],
           (array_agg(history.before ->> 'became_conversion_at' order by history.id desc)
              filter (where history.id < coalesce(first_seen.id, history.id + 1)
                        and history.before ->> 'became_conversion_at' is not null))[1]
         )::timestamptz as stated_at,
         (max(history.after ->> 'became_conversion_at') filter (where history.id = first_seen.id))::timestamptz
           as first_stated_at
  from record_history history
  left join first_seen on first_seen.referral_id = history.record_id
  where history.table_name = 'referrals' and history.before ? 'became_conversion_at'
  group by history.record_id
), event as (
  select seen.referral_id, referral.affiliate_id, referral.link_id, referral.customer_email, seen.from_state,
         coalesce(seen.stated_at, case
           when referral.became_conversion_at > referral._first_seen_at
             and referral.became_conversion_at <= seen.observed_at
             and not exists (
               select from record_history earlier
               where earlier.record_id = seen.referral_id and earlier.id < seen.id
                 and earlier.table_name = 'referrals'
                 and earlier.after ->> 'conversion_state' = 'conversion'
                 and earlier.observed_at >= referral.became_conversion_at)
             then referral.became_conversion_at
         end) as stated_at,
         seen.observed_at, seen.run_id, referral._deleted_at
  from seen
  left join referrals referral on referral.id = seen.referral_id
  union all
  select referral.id, referral.affiliate_id, referral.link_id, referral.customer_email, null,
         referral.became_conversion_at, referral._first_seen_at, null, referral._deleted_at
  from referrals referral
  left join stated on stated.referral_id = referral.id
  where referral.became_conversion_at is not null
    and stated.is_restated is not true
    -- Stated before its state was seen, it is about that one.
    and (stated.is_seen is not true or referral.became_conversion_at <= referral._first_seen_at)
  union all
  select referral.id, referral.affiliate_id, referral.link_id, referral.customer_email, null,
         stated.stated_at, referral._first_seen_at, null, referral._deleted_at
  from stated
  join referrals referral on referral.id = stated.referral_id
  where stated.stated_at is not null
    and (stated.is_restated or referral.became_conversion_at is null)
    and not (stated.is_seen and stated.stated_at > referral._first_seen_at
             and coalesce(stated.first_stated_at, stated.stated_at) = stated.stated_at)
)
select referral_id,
       affiliate_id,
       link_id,
       customer_email,
       from_state,
       coalesce(stated_at, observed_at) as converted_at,
       stated_at is not null as is_exact,
       observed_at,
       run_id,
       _deleted_at
from event;

comment on view conversion_events is 'Each conversion of a referral: those that the mirror saw happen, and those from before whose time the API states (referrals.became_conversion_at, seen in the wild). If it states none, referrals that were conversions when first seen are not in it: when those converted is not known.';
comment on column conversion_events.referral_id is 'The referral (referrals.id).';
comment on column conversion_events.affiliate_id is 'Affiliate of the referral today (affiliates.id).';
comment on column conversion_events.link_id is 'Link of the referral today (links.id).';
comment on column conversion_events.customer_email is 'Email address of the customer today.';
comment on column conversion_events.from_state is 'The state of the referral before: lead, or visitor; null if the mirror did not see it.';
comment on column conversion_events.converted_at is 'When the referral converted: as the API states it, or else observed_at.';
comment on column conversion_events.is_exact is 'Whether the API stated converted_at. If not, it converted before that, and after the sync before.';
comment on column conversion_events.observed_at is 'When the mirror saw the conversion, or a referral that had converted before, for the first time.';
comment on column conversion_events.run_id is 'The run that saw it happen (sync_runs.id); null if none did.';
comment on column conversion_events._deleted_at is 'When the mirror found that the referral is gone from the API; null while it exists.';
