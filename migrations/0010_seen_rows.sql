-- Why: an index over the identifiers that a run has met was a quarter of the work of a sync. A number for each row
-- makes it one bit per row in memory, and a plain list per batch here.
-- Lock taken: access exclusive on the tables of listed resources while they are rewritten (seconds per million rows).
-- Breaking: no. A run that was stopped before starts its walk over.
--
-- Unique, because two rows of one number would be one bit: a deleted record would count as met for good. A first load
-- pays for it with an entry at the right end of a small index for each row, which never moves afterwards.

alter table affiliates add column _row_number bigint not null generated always as identity unique;
alter table referrals add column _row_number bigint not null generated always as identity unique;
alter table campaigns add column _row_number bigint not null generated always as identity unique;
alter table commissions add column _row_number bigint not null generated always as identity unique;

comment on column affiliates._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';
comment on column referrals._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';
comment on column campaigns._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';
comment on column commissions._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';

-- Unlogged, so that reading everything again costs almost no WAL. A crash of Postgres empties it; a resumed run then
-- finds no line of its own, though its figures say that it has met records, and starts its walk over.
create unlogged table seen_rows (
  run_id        bigint not null,
  row_numbers   bigint[] not null,
  rejected_ids  text[] not null,
  unnamed_links jsonb not null
);

-- Compressing them costs more than writing a few more bytes.
alter table seen_rows alter column row_numbers set storage external;

create index seen_rows_of_run on seen_rows (run_id);

comment on table seen_rows is 'The records that a running sync has met so far, one line per batch; emptied when the run ends. Nothing for analysis.';
comment on column seen_rows.run_id is 'The run (sync_runs.id).';
comment on column seen_rows.row_numbers is 'Numbers (_row_number) of the rows that the batch met first.';
comment on column seen_rows.rejected_ids is 'Identifiers of the records that the batch met first and rejected.';
comment on column seen_rows.unnamed_links is 'Links that an affiliate in the batch has in the mirror and did not name.';

create function lock_for_loading(is_alone boolean) returns void
language plpgsql
as $$
declare
  key constant bigint := hashtextextended('affiliate-mirror load of ' || current_schema(), 0);
begin
  if is_alone then
    perform pg_advisory_xact_lock(key);
  else
    perform pg_advisory_xact_lock_shared(key);
  end if;
end
$$;

comment on function lock_for_loading(boolean) is 'Waits for the right to load until the transaction ends: alone, or beside other small loads.';
