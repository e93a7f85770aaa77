-- Why: every change of a mirrored record, so that any earlier state of it can be had again (functions/history.sql).

create table change_clock (
  only_row boolean primary key default true check (only_row),
  last     timestamptz not null default clock_timestamp()
);

insert into change_clock default values;

comment on table change_clock is 'The last stamp (_changed_at) that was given to a change of a mirrored record. One row. Nothing for analysis.';
comment on column change_clock.only_row is 'Always true: keeps the table at one row.';
comment on column change_clock.last is 'The stamp. The next one is greater, even if the clock of the server was set back.';

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
-- A run is kept for as long as a change names it. A tree would cost every load; this one has one entry per 32 pages.
create index record_history_of_run on record_history using brin (run_id) with (pages_per_range = 32);

comment on table record_history is 'One row per change of a mirrored record: which fields, from what to what, when. Applied backwards, newest first, to a row of today, it gives the row of any earlier time. Records that were stored for the first time share a row: one for those of a page.';
comment on column record_history.id is 'Number of the change. A change that is committed later has a higher one.';
comment on column record_history.table_name is 'Table of the record.';
comment on column record_history.record_id is 'Identifier of the record; null for inserted.';
comment on column record_history.record_ids is 'Identifiers of the records that were inserted together; null for any other change.';
comment on column record_history.change is 'inserted: the mirror stored the records (record_ids) for the first time. updated: the content of the record changed. deleted: it was found to be gone from the API. resurrected: it is back.';
comment on column record_history.before is 'The fields that changed, with their values before; null for inserted.';
comment on column record_history.after is 'The same fields, with their values after; null for inserted: what was inserted is the row of today with all later changes taken back.';
comment on column record_history.observed_at is 'When the change was observed: when the request that showed it was sent; for a change by hand, when it was made.';
comment on column record_history.recorded_at is 'When the change was written to the mirror: the _changed_at that it gave the row.';
comment on column record_history.run_id is 'The run that found the change (sync_runs.id); null if it was no run.';
