-- Every change to a mirrored record, by any writer, is recorded in its own transaction, and stamped, so that the stamps
-- (_changed_at) are in the order of the commits.
--
-- A transaction stamps under a lock that it keeps until it ends, and each stamp is greater than the last committed one,
-- also if the server's clock goes back. So a reader who sees a stamp sees all smaller ones: they were committed before it
-- was given. The price: transactions that change records run one after the other from their first change on. None of ours
-- waits for the network there.
-- No transactions wait for each other in a circle: ours take the lock of loads first (lock_for_loading), then this one, then rows,
-- except that a load which is alone needs no order. A change by hand locks its rows first, since a trigger stamps it:
-- if that meets a load, Postgres ends one of the two with a deadlock, and a load is done again.

create or replace function change_stamp() returns timestamptz
language sql stable
as $$
  select nullif(current_setting('affiliate_mirror.change_stamp', true), '')::timestamptz
$$;
comment on function change_stamp() is 'The stamp of this transaction''s changes; null if it has changed nothing yet.';

-- The stamp is kept in a setting that ends with the transaction, and is undone with a savepoint, as the lock is.
create or replace function stamp_changes() returns timestamptz
language plpgsql
set search_path from current
as $$
declare
  stamp timestamptz := change_stamp();
begin
  if stamp is null then
    -- Not the lock of the row alone: to wait for this one is part of the work, and not reported (watch-locks.ts).
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
comment on function stamp_changes() is 'The stamp of this transaction''s changes (_changed_at). The first call takes one, and a lock that keeps others from stamping until the transaction ends; later calls return the same.';

-- Statement-level with transition tables: one call per statement however many rows it changed, and a statement that
-- changes none costs next to nothing. The time zone is fixed so that all writers spell times alike.
-- _deleted_at counts as a field: without it a replay could not restore when a record had been deleted.
-- Loads stamp what they write; the rows of other writers are stamped here, before its history is numbered. Unless it says
-- when it was observed, that was when it was written: the row's own time is that of another observation.
create or replace function record_changes() returns trigger
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
comment on function record_changes() is 'Trigger function of every mirrored table: writes the changes of a statement to record_history, and stamps those that carry no stamp.';

create or replace function record_insertions() returns trigger
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
comment on function record_insertions() is 'Trigger function of every mirrored table: the same for the rows that a statement inserts.';

do $$
declare
  mirrored text;
begin
  foreach mirrored in array array['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions', 'payouts'] loop
    execute format('create or replace trigger record_changes after update on %I
      referencing old table as old_rows new table as new_rows for each statement execute function record_changes()',
      mirrored);
    execute format('create or replace trigger record_insertions after insert on %I
      referencing new table as new_rows for each statement execute function record_insertions()', mirrored);
    execute format('comment on trigger record_changes on %I is %L', mirrored,
      format('Keeps the history of %s.', mirrored));
    execute format('comment on trigger record_insertions on %I is %L', mirrored,
      format('Keeps when each of the %s was first stored.', mirrored));
  end loop;
end
$$;

-- Refuses what was pruned.
create or replace function referrals_at(moment timestamptz) returns setof referrals
language plpgsql stable
set search_path from current
as $$
declare
  gone_before constant timestamptz := (select pruned_before from pruned_tables where table_name = 'record_history');
begin
  if moment < gone_before then
    raise exception using errcode = 'invalid_parameter_value',
      message = format('the referrals as of %s are not known any more: the history from before %s was pruned', moment, gone_before),
      hint = 'RETENTION_HISTORY_DAYS says how long the history is kept. Ask for a later time.';
  end if;
  return query
  select known.*
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
  left join (
    select changed.id, max(history.observed_at) as observed_at, max(history.recorded_at) as recorded_at
    from record_history history
    cross join lateral unnest(coalesce(history.record_ids, array[history.record_id])) as changed (id)
    where history.table_name = 'referrals'
      and history.observed_at <= moment
    group by changed.id
  ) earlier on earlier.id = referral.id
  -- Here and not as (...).* above, which makes the row once for each of its columns: four times as long.
  cross join lateral jsonb_populate_record(
    referral,
    coalesce(later.fields, '{}'::jsonb)
      || jsonb_build_object('_changed_at', coalesce(earlier.recorded_at, referral._first_seen_at),
                            '_observed_at', coalesce(earlier.observed_at, referral._first_seen_at))
  ) known
  where referral._first_seen_at <= moment;
end
$$;
comment on function referrals_at(timestamptz) is 'The referrals as the mirror knew them at a given time: select * from referrals_at(''2026-01-01Z''). Rows that were deleted by then carry _deleted_at. Fails for a time from before which the history was pruned (pruned_tables).';
