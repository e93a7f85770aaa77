-- Why: an index over the identifiers that a run has met was a quarter of the work of a sync. A number for each row
-- makes it one bit per row in memory, and a plain list per batch here.
-- Lock taken: access exclusive on affiliates, referrals and commissions while they are rewritten (seconds per million rows).
-- Breaking: no. A run that was stopped before starts its walk over.

alter table affiliates add column _row_number bigint not null generated always as identity;
alter table referrals add column _row_number bigint not null generated always as identity;
alter table commissions add column _row_number bigint not null generated always as identity;

comment on column affiliates._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';
comment on column referrals._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';
comment on column commissions._row_number is 'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.';

-- Unlogged, so that reading everything again costs almost no WAL. A crash of Postgres empties it; a resumed run then
-- finds no line of its own, though its figures say that it has met records, and starts its walk over.
create unlogged table seen_rows (
  run_id       bigint not null,
  row_numbers  bigint[] not null,
  rejected_ids text[] not null
);

-- Compressing them costs more than writing a few more bytes.
alter table seen_rows alter column row_numbers set storage external;

create index seen_rows_of_run on seen_rows (run_id);

comment on table seen_rows is 'The records that a running sync has met so far, one line per batch; emptied when the run ends. Nothing for analysis.';
comment on column seen_rows.run_id is 'The run (sync_runs.id).';
comment on column seen_rows.row_numbers is 'Numbers (_row_number) of the rows that the batch met first.';
comment on column seen_rows.rejected_ids is 'Identifiers of the records that the batch met first and rejected.';

-- A process that is stopped in the middle of a transaction keeps its locks. Between two statements the server's
-- idle_in_transaction_session_timeout ends that; while a large statement is only partly sent, nothing of the server's
-- does. So whoever waits looks at who holds the lock. A COPY reads from its client for as long as that has rows.
create function take_lock(key bigint, is_alone boolean, patience interval) returns void
language plpgsql
as $$
declare
  begun constant timestamptz := clock_timestamp();
  usual constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', '5s', true);
  loop
    begin
      if is_alone then
        perform pg_advisory_xact_lock(key);
      else
        perform pg_advisory_xact_lock_shared(key);
      end if;
      exit;
    exception when lock_not_available then
      if clock_timestamp() >= begun + patience then
        raise;
      end if;
      begin
        perform pg_terminate_backend(holder.pid)
        from pg_locks lock
        join pg_stat_activity holder using (pid)
        where lock.locktype = 'advisory' and lock.granted and lock.objsubid = 1
          and lock.database = holder.datid and holder.datname = current_database()
          and lock.classid::bigint = (key >> 32) & 4294967295 and lock.objid::bigint = key & 4294967295
          and holder.state = 'active' and holder.wait_event = 'ClientRead' and holder.query !~* '\mcopy\M'
          and holder.state_change < clock_timestamp() - interval '5 seconds';
      exception when insufficient_privilege then
        -- Another role's process: wait for it.
      end;
    end;
  end loop;
  perform set_config('lock_timeout', usual, true);
end
$$;

create function lock_for_loading(is_alone boolean) returns void
language plpgsql
as $$
begin
  perform take_lock(hashtextextended('affiliate-mirror load of ' || current_schema(), 0), is_alone, null);
end
$$;

comment on function take_lock(bigint, boolean, interval) is 'Waits for a lock until the transaction ends, alone or shared; fails with lock_not_available once its patience is over (null: never). Closes the connection of a process that holds it and has sent a part of a statement and nothing more for seconds: such a process was stopped.';
comment on function lock_for_loading(boolean) is 'Waits for the right to load until the transaction ends: alone, or beside other small loads.';
