-- Why: what grows with time alone can be given an age from which it is deleted. How far that went is kept here, so that
-- nobody takes what is left for the whole; and a function that needs the deleted part says so instead of answering wrongly.
-- Lock taken: record_history against writes, for as long as its index takes to be made (a block range index: seconds per
-- ten million rows). Breaking: no.
--
-- Decisions
-- * No index on any time: numbers ascend with time, so what is over age is found by the primary key.
-- * A block range index on record_history.run_id: a run is kept for as long as a change names it. A tree would cost every
--   load; this one has one entry per 32 pages.

create table pruned_tables (
  table_name      text primary key,
  keep_days       integer,
  pruned_before   timestamptz,
  rows_deleted    bigint not null default 0,
  last_deleted_at timestamptz,
  looked_at       timestamptz,
  reached         bigint not null default 0,
  begun_at        timestamptz
);

create index record_history_of_run on record_history using brin (run_id) with (pages_per_range = 32);

comment on table pruned_tables is 'Which tables lose old rows, after how many days, and how far that went: one row per table that a worker looks at.';
comment on column pruned_tables.table_name is 'The table.';
comment on column pruned_tables.keep_days is 'How many days its rows are kept, as the last worker was configured; null: for ever.';
comment on column pruned_tables.pruned_before is 'Rows from before this moment may have been deleted; null where none was.';
comment on column pruned_tables.rows_deleted is 'How many rows were deleted in all.';
comment on column pruned_tables.last_deleted_at is 'When the last of them were deleted.';
comment on column pruned_tables.looked_at is 'When a worker last looked at the whole of it.';
comment on column pruned_tables.reached is 'How far the looking has come (an id of the table); the worker''s own.';
comment on column pruned_tables.begun_at is 'When it last began at the first row; the worker''s own.';

-- Here and not with the history, since it refuses what was pruned.
create function referrals_at(moment timestamptz) returns setof referrals
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
