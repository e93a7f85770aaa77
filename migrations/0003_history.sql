-- Why: every change to a mirrored record is kept, whoever made it, in the transaction that made it.
-- Lock taken: share row exclusive on each mirrored table, for a moment (create trigger). Breaking: no.

create table record_history (
  id          bigint generated always as identity primary key,
  table_name  text not null,
  record_id   text collate "C" not null,
  change      text not null check (change in ('updated', 'deleted', 'resurrected')),
  before      jsonb not null,
  after       jsonb not null,
  observed_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  run_id      bigint
);

-- The history of one record, and the replay of a table's records backwards.
create index record_history_of_record on record_history (table_name, record_id, id);

comment on table record_history is 'One row per change of a mirrored record: which fields, from what to what, when. Applied backwards, newest first, to a row of today, it gives the row of any earlier time.';
comment on column record_history.id is 'Number of the change; for one record, higher is later.';
comment on column record_history.table_name is 'Table of the record.';
comment on column record_history.record_id is 'Identifier of the record.';
comment on column record_history.change is 'updated: its content changed. deleted: it was found to be gone from the program. resurrected: it is back.';
comment on column record_history.before is 'The fields that changed, with their values before.';
comment on column record_history.after is 'The same fields, with their values after.';
comment on column record_history.observed_at is 'When the change was observed: when the request that showed it was sent.';
comment on column record_history.recorded_at is 'When the change was written to the mirror.';
comment on column record_history.run_id is 'The run that found the change (sync_runs.id); null where it was no run.';

-- Statement-level with transition tables: one call per statement however many rows it changed, and a statement that
-- changes none costs next to nothing. The time zone is fixed so that times are spelled alike whoever writes.
-- _deleted_at counts as a field: without it a replay could not restore when a record had been deleted.
create function record_changes() returns trigger
language plpgsql
set search_path from current
set timezone to 'UTC'
as $$
begin
  insert into record_history (table_name, record_id, change, before, after, observed_at, run_id)
  select tg_table_name,
         changed.id,
         case
           when changed.was_deleted_at is null and changed.is_deleted_at is not null then 'deleted'
           when changed.was_deleted_at is not null and changed.is_deleted_at is null then 'resurrected'
           else 'updated'
         end,
         fields.before,
         fields.after,
         changed.observed_at,
         nullif(current_setting('affiliate_mirror.run_id', true), '')::bigint
  from (
    select new_row.id,
           old_row._deleted_at as was_deleted_at,
           new_row._deleted_at as is_deleted_at,
           new_row._observed_at as observed_at,
           to_jsonb(old_row) - array['_first_seen_at', '_changed_at', '_observed_at'] as before,
           to_jsonb(new_row) - array['_first_seen_at', '_changed_at', '_observed_at'] as after
    from old_rows old_row
    join new_rows new_row using (id)
  ) changed
  cross join lateral (
    select jsonb_object_agg(key, changed.before -> key) as before,
           jsonb_object_agg(key, after_value) as after
    from jsonb_each(changed.after) as field (key, after_value)
    where after_value is distinct from changed.before -> key
  ) fields
  where fields.after is not null
  order by changed.id;
  return null;
end
$$;

comment on function record_changes() is 'Trigger function of every mirrored table: writes the changes of a statement to record_history.';

create trigger record_changes after update on campaigns
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();
create trigger record_changes after update on affiliates
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();
create trigger record_changes after update on links
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();
create trigger record_changes after update on referrals
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();
create trigger record_changes after update on sales
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();
create trigger record_changes after update on commissions
  referencing old table as old_rows new table as new_rows
  for each statement execute function record_changes();

comment on trigger record_changes on campaigns is 'Keeps the history of campaigns.';
comment on trigger record_changes on affiliates is 'Keeps the history of affiliates.';
comment on trigger record_changes on links is 'Keeps the history of links.';
comment on trigger record_changes on referrals is 'Keeps the history of referrals.';
comment on trigger record_changes on sales is 'Keeps the history of sales.';
comment on trigger record_changes on commissions is 'Keeps the history of commissions.';

-- A conversion that the mirror saw happen is in its history. One from before that is known by the program's own word,
-- where it sends became_conversion_at (seen in the wild).
create view conversion_events as
with seen as (
  select history.record_id as referral_id,
         history.before ->> 'conversion_state' as from_state,
         (history.after ->> 'became_conversion_at')::timestamptz as stated_at,
         history.observed_at,
         history.run_id
  from record_history history
  where history.table_name = 'referrals'
    and history.after ->> 'conversion_state' = 'conversion'
), event as (
  select seen.referral_id, referral.affiliate_id, referral.link_id, referral.customer_email, seen.from_state,
         seen.stated_at, seen.observed_at, seen.run_id, referral._deleted_at
  from seen
  left join referrals referral on referral.id = seen.referral_id
  union all
  select referral.id, referral.affiliate_id, referral.link_id, referral.customer_email, null,
         referral.became_conversion_at, referral._first_seen_at, null, referral._deleted_at
  from referrals referral
  where referral.became_conversion_at is not null
    and not exists (select from seen where seen.referral_id = referral.id)
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

comment on view conversion_events is 'Each conversion of a referral: those that the mirror saw happen, and those from before whose time the program states (referrals.became_conversion_at, seen in the wild). Where it states none, referrals that were conversions when first seen are not in it: when those converted is not known.';
comment on column conversion_events.referral_id is 'The referral (referrals.id).';
comment on column conversion_events.affiliate_id is 'Affiliate of the referral today (affiliates.id).';
comment on column conversion_events.link_id is 'Link of the referral today (links.id).';
comment on column conversion_events.customer_email is 'Email address of the customer today.';
comment on column conversion_events.from_state is 'What the referral was before: lead, or visitor; null where the mirror did not see it.';
comment on column conversion_events.converted_at is 'When the referral converted: as the program states it, or else observed_at.';
comment on column conversion_events.is_exact is 'Whether the program stated converted_at. If not, it converted before that, and after the sync before.';
comment on column conversion_events.observed_at is 'When the mirror saw the conversion, or a referral that had converted before, for the first time.';
comment on column conversion_events.run_id is 'The run that saw it happen (sync_runs.id); null where none did.';
comment on column conversion_events._deleted_at is 'When the mirror found that the referral is gone from the program; null while it exists.';

create function referrals_at(moment timestamptz) returns setof referrals
language sql stable
set search_path from current
as $$
  select (jsonb_populate_record(
           referral,
           coalesce(later.fields, '{}'::jsonb)
             || jsonb_build_object('_changed_at', coalesce(earlier.changed_at, referral._first_seen_at),
                                   '_observed_at', coalesce(earlier.changed_at, referral._first_seen_at))
         )).*
  from referrals referral
  -- Newest first: of several changes to one field, the value before the first one after that time stays.
  left join lateral (
    select jsonb_object_agg(field.key, field.value order by history.id desc) as fields
    from record_history history
    cross join lateral jsonb_each(history.before) as field (key, value)
    where history.table_name = 'referrals'
      and history.record_id = referral.id
      and history.observed_at > moment
  ) later on true
  left join lateral (
    select max(history.observed_at) as changed_at
    from record_history history
    where history.table_name = 'referrals'
      and history.record_id = referral.id
      and history.observed_at <= moment
  ) earlier on true
  where referral._first_seen_at <= moment
$$;

comment on function referrals_at(timestamptz) is 'The referrals as the mirror knew them at a given time: select * from referrals_at(''2026-01-01''). Rows that were deleted by then carry _deleted_at.';
