-- Why: every change to a mirrored record is kept, whoever made it, in the transaction that made it; and it is stamped, so
-- that the stamps (_changed_at) are in the order of the commits.
-- Lock taken: share row exclusive on each mirrored table, for a moment (create trigger). Breaking: no.
--
-- Why stamps are in the order of commits: a transaction stamps under a lock that it keeps until it ends, and each stamp
-- is greater than the last committed one, whatever the server's clock says. So whoever sees a stamp sees all smaller
-- ones: they were committed before it was given. The price: transactions that change records run one after the other
-- from their first change on. None of ours waits for the network there.
-- Nobody waits for another in a circle: ours take the lock of loads first (lock_for_loading), then this one, then rows,
-- except that a load which is alone needs no order. A change by hand locks its rows first, since a trigger stamps it:
-- if that meets a load, Postgres ends one of the two with a deadlock, and a load is done again.

create table change_clock (
  only_row boolean primary key default true check (only_row),
  last     timestamptz not null default clock_timestamp()
);

insert into change_clock default values;

comment on table change_clock is 'The last stamp (_changed_at) that was given to a change of a mirrored record. One row. Nothing for analysis.';
comment on column change_clock.only_row is 'Always true: keeps the table at one row.';
comment on column change_clock.last is 'The stamp. The next one is greater, even if the clock of the server was set back.';

create function change_stamp() returns timestamptz
language sql stable
as $$
  select nullif(current_setting('affiliate_mirror.change_stamp', true), '')::timestamptz
$$;

-- The stamp is kept in a setting that ends with the transaction, and is undone with a savepoint, as the lock is.
create function stamp_changes() returns timestamptz
language plpgsql
set search_path from current
as $$
declare
  stamp timestamptz := change_stamp();
begin
  if stamp is null then
    -- Not the lock of the row alone: to wait for this one is part of the work, and nobody is named (watch-locks.ts).
    perform pg_advisory_xact_lock(hashtextextended('affiliate-mirror changes of ' || current_schema(), 0));
    update change_clock
       set last = greatest(clock_timestamp(), last + interval '1 microsecond')
    returning last into strict stamp;
    perform set_config('affiliate_mirror.change_stamp',
      to_char(stamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), true);
  end if;
  return stamp;
end
$$;

comment on function change_stamp() is 'The stamp of this transaction''s changes; null where it has changed nothing yet.';
comment on function stamp_changes() is 'The stamp of this transaction''s changes (_changed_at). The first call takes one, and a lock that keeps others from stamping until the transaction ends; later calls return the same.';

-- Insertions are most of what a mirror ever records, and hold nothing but identifiers: one row holds all those of a
-- statement that were observed at once, which are those of one page. Measured in CPU time of Postgres for a first sync of
-- 100,000 referrals, in turns: 1.3 s, where a row each takes 1.85 s and 32 MB more of WAL.
create table record_history (
  id          bigint generated always as identity primary key,
  table_name  text not null,
  record_id   text collate "C",
  record_ids  text[] collate "C",
  change      text not null check (change in ('inserted', 'updated', 'deleted', 'resurrected')),
  before      jsonb,
  after       jsonb,
  observed_at timestamptz not null,
  recorded_at timestamptz not null,
  run_id      bigint,
  constraint record_history_fits_its_change check (
    case change
      when 'inserted' then record_ids is not null and num_nonnulls(record_id, before, after) = 0
      else record_ids is null and num_nulls(record_id, before, after) = 0
    end)
);

-- Identifiers hardly get smaller by it, and it takes longer than to write them.
alter table record_history alter column record_ids set storage external;

-- The history of one record. Not by table_name first: identifiers hardly ever occur in two tables, and comparing names
-- in the database's own language made a first load a third slower.
create index record_history_of_record on record_history (record_id, id);

comment on table record_history is 'One row per change of a mirrored record: which fields, from what to what, when. Applied backwards, newest first, to a row of today, it gives the row of any earlier time. Records that were stored for the first time share a row: one for those of a page.';
comment on column record_history.id is 'Number of the change. A change that is committed later has a higher one.';
comment on column record_history.table_name is 'Table of the record.';
comment on column record_history.record_id is 'Identifier of the record; null for inserted.';
comment on column record_history.record_ids is 'Identifiers of the records that were inserted together; null for any other change.';
comment on column record_history.change is 'inserted: the mirror stored the records (record_ids) for the first time. updated: the content of the record changed. deleted: it was found to be gone from the program. resurrected: it is back.';
comment on column record_history.before is 'The fields that changed, with their values before; null for inserted.';
comment on column record_history.after is 'The same fields, with their values after; null for inserted: what was inserted is the row of today with all later changes taken back.';
comment on column record_history.observed_at is 'When the change was observed: when the request that showed it was sent; where somebody made it by hand, when it was made.';
comment on column record_history.recorded_at is 'When the change was written to the mirror: the _changed_at that it gave the row.';
comment on column record_history.run_id is 'The run that found the change (sync_runs.id); null where it was no run.';

-- Statement-level with transition tables: one call per statement however many rows it changed, and a statement that
-- changes none costs next to nothing. The time zone is fixed so that times are spelled alike whoever writes.
-- _deleted_at counts as a field: without it a replay could not restore when a record had been deleted.
-- Loads stamp what they write; what anybody else writes is stamped here, before its history is numbered. Unless it says
-- when it was observed, that was when it was written: the row's own time is that of another observation.
create function record_changes() returns trigger
language plpgsql
set search_path from current
set timezone to 'UTC'
set jit to off
as $$
declare
  own constant text[] := array['_first_seen_at', '_changed_at', '_observed_at'];
  given constant timestamptz := change_stamp();
  stamp timestamptz := given;
begin
  -- What a person's data is emptied by leaves no history: that would keep it.
  if current_setting('affiliate_mirror.keeps_history', true) = 'off' then
    return null;
  end if;
  if exists (select from new_rows where _changed_at is distinct from stamp) then
    execute format($update$
      update %I kept set _changed_at = stamp_changes()
      from old_rows old_row join new_rows new_row using (id)
      where kept.id = new_row.id
        and new_row._changed_at is distinct from $2
        and (new_row._changed_at is distinct from old_row._changed_at
             or to_jsonb(new_row) - $1 is distinct from to_jsonb(old_row) - $1)
      $update$, tg_table_name) using own, stamp;
    stamp := change_stamp();
  end if;
  if stamp is null then
    return null;
  end if;
  insert into record_history (table_name, record_id, change, before, after, observed_at, recorded_at, run_id)
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
         stamp,
         nullif(current_setting('affiliate_mirror.run_id', true), '')::bigint
  from (
    select new_row.id,
           old_row._deleted_at as was_deleted_at,
           new_row._deleted_at as is_deleted_at,
           case
             when new_row._observed_at = old_row._observed_at
               and (new_row._changed_at is distinct from given or old_row._changed_at = given)
               then greatest(new_row._observed_at, (select clock_timestamp()))
             else new_row._observed_at
           end as observed_at,
           to_jsonb(old_row) - own as before,
           to_jsonb(new_row) - own as after
    -- A plan is kept with the sizes that these tables had when it was made, and a plan for one row compares each row
    -- with each. A full join is never done so.
    from old_rows old_row
    full join new_rows new_row using (id)
    -- Without this the planner would make the JSON of a row once for each of its fields.
    offset 0
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

create function record_insertions() returns trigger
language plpgsql
set search_path from current
as $$
declare
  run constant bigint := nullif(current_setting('affiliate_mirror.run_id', true), '')::bigint;
  stamp timestamptz;
begin
  if not exists (select from new_rows) then
    return null;
  end if;
  stamp := stamp_changes();
  if exists (select from new_rows where _changed_at <> stamp) then
    execute format(
      'update %I kept set _changed_at = $1 from new_rows new_row where kept.id = new_row.id and new_row._changed_at <> $1',
      tg_table_name) using stamp;
  end if;
  insert into record_history (table_name, record_ids, change, observed_at, recorded_at, run_id)
  select tg_table_name, array_agg(id), 'inserted', _observed_at, stamp, run from new_rows group by _observed_at;
  return null;
end
$$;

comment on function record_changes() is 'Trigger function of every mirrored table: writes the changes of a statement to record_history, and stamps those that carry no stamp.';
comment on function record_insertions() is 'Trigger function of every mirrored table: the same for the rows that a statement inserts.';

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
create trigger record_insertions after insert on campaigns
  referencing new table as new_rows
  for each statement execute function record_insertions();
create trigger record_insertions after insert on affiliates
  referencing new table as new_rows
  for each statement execute function record_insertions();
create trigger record_insertions after insert on links
  referencing new table as new_rows
  for each statement execute function record_insertions();
create trigger record_insertions after insert on referrals
  referencing new table as new_rows
  for each statement execute function record_insertions();
create trigger record_insertions after insert on sales
  referencing new table as new_rows
  for each statement execute function record_insertions();
create trigger record_insertions after insert on commissions
  referencing new table as new_rows
  for each statement execute function record_insertions();

comment on trigger record_changes on campaigns is 'Keeps the history of campaigns.';
comment on trigger record_insertions on campaigns is 'Keeps when each of the campaigns was first stored.';
comment on trigger record_changes on affiliates is 'Keeps the history of affiliates.';
comment on trigger record_insertions on affiliates is 'Keeps when each of the affiliates was first stored.';
comment on trigger record_changes on links is 'Keeps the history of links.';
comment on trigger record_insertions on links is 'Keeps when each of the links was first stored.';
comment on trigger record_changes on referrals is 'Keeps the history of referrals.';
comment on trigger record_insertions on referrals is 'Keeps when each of the referrals was first stored.';
comment on trigger record_changes on sales is 'Keeps the history of sales.';
comment on trigger record_insertions on sales is 'Keeps when each of the sales was first stored.';
comment on trigger record_changes on commissions is 'Keeps the history of commissions.';
comment on trigger record_insertions on commissions is 'Keeps when each of the commissions was first stored.';

-- A conversion that the mirror saw happen is in its history. One from before that is known by the program's own word,
-- where it sends became_conversion_at (seen in the wild). The state may be seen before that, since a referral within a
-- commission need not have all of its fields: what comes later is about the first conversion that was seen after it.
create view conversion_events as
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
