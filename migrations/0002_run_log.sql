-- Why: what each sync did, how far it got, what it could not store, and where records differed from the contract.
-- Lock taken: none on anything that exists (new tables only). Breaking: no.

create table sync_runs (
  id                bigint generated always as identity primary key,
  resource          text not null,
  mode              text not null check (mode in ('full', 'delta')),
  state             text not null default 'running'
                    check (state in ('running', 'succeeded', 'partial', 'failed', 'interrupted', 'skipped')),
  requests          bigint not null default 0,
  pages             bigint not null default 0,
  rows_seen         bigint not null default 0,
  rows_inserted     bigint not null default 0,
  rows_updated      bigint not null default 0,
  rows_unchanged    bigint not null default 0,
  rows_rejected     bigint not null default 0,
  rows_repeated     bigint not null default 0,
  rows_deleted      bigint not null default 0,
  deletes_held_back bigint not null default 0,
  total_upstream    bigint,
  distinct_seen     bigint not null default 0,
  verified          boolean not null default false,
  plan              jsonb,
  reads_everything  boolean not null
                    generated always as (mode = 'full' or resource in ('affiliates', 'campaigns') or coalesce(plan ->> 'strategy' = 'full', false)) stored,
  checkpoint        jsonb,
  error_code        text,
  error             text,
  started_at        timestamptz not null default clock_timestamp(),
  heartbeat_at      timestamptz not null default clock_timestamp(),
  finished_at       timestamptz,
  constraint sync_runs_counts_add_up
    check (rows_seen = rows_inserted + rows_updated + rows_unchanged + rows_rejected + rows_repeated),
  constraint sync_runs_finished_when_not_running check ((state = 'running') = (finished_at is null)),
  -- A delta reads no whole list, so there is nothing to verify it against.
  constraint sync_runs_only_a_verified_run_succeeds check (state <> 'succeeded' or verified or mode = 'delta'),
  constraint sync_runs_only_a_verified_run_deletes check (rows_deleted = 0 or verified or mode = 'delta'),
  -- Rows that live here and not in the program are no success, even where everything was read.
  constraint sync_runs_no_success_holds_back check (state <> 'succeeded' or deletes_held_back = 0)
);

-- One run of a resource at a time, whoever starts it.
create unique index sync_runs_one_running on sync_runs (resource) where state = 'running';
-- The last runs of a resource, for the status and for the age of the last full run.
create index sync_runs_latest on sync_runs (resource, id desc);

comment on table sync_runs is 'The run log: one row per run and resource. How fresh the mirror is, what each run changed, and whether it may be trusted.';
comment on column sync_runs.id is 'Number of the run.';
comment on column sync_runs.resource is 'What was synced: affiliates, referrals, campaigns or commissions.';
comment on column sync_runs.mode is 'full: everything was read. delta: only changes were looked for.';
comment on column sync_runs.state is 'running; or how the run ended: succeeded (read to the end and verified), partial (it ended, but is unverified and marked nothing deleted, or it held deletions back; see error), failed (see error), interrupted (stopped before its end, not resumed), skipped (there was nothing to do, or another run did it).';
comment on column sync_runs.requests is 'Requests sent to the program.';
comment on column sync_runs.pages is 'Pages loaded.';
comment on column sync_runs.rows_seen is 'Records read, repeats included. Always the sum of inserted, updated, unchanged, rejected and repeated.';
comment on column sync_runs.rows_inserted is 'Records that were new to the mirror.';
comment on column sync_runs.rows_updated is 'Records whose row was changed, records that came back after a deletion included.';
comment on column sync_runs.rows_unchanged is 'Records whose row already held the same, or something newer.';
comment on column sync_runs.rows_rejected is 'Records that could not be stored; each is in rejected_records.';
comment on column sync_runs.rows_repeated is 'Records read again in the same run without anything new.';
comment on column sync_runs.rows_deleted is 'Rows marked deleted by the run.';
comment on column sync_runs.deletes_held_back is 'Rows that look deleted and were not marked, as a rule because too many looked so at once; see error and held_back_deletions.';
comment on column sync_runs.total_upstream is 'How many records the program said it had, at the end of the walk.';
comment on column sync_runs.distinct_seen is 'How many different records the run saw.';
comment on column sync_runs.verified is 'Whether it is known that the run missed nothing: it saw at least as many different records as the program said exist, each had a usable identifier, the program did not contradict itself, and nothing that was read before a stop was too old.';
comment on column sync_runs.plan is 'What the run set out to do and the requests that it expected to need.';
comment on column sync_runs.reads_everything is 'Whether the run reads all of its resource, whatever its mode: a delta of affiliates or campaigns does, and any other where that costs no more.';
comment on column sync_runs.checkpoint is 'Where a stopped run goes on; empty once the run has ended.';
comment on column sync_runs.error_code is 'Stable code of the error that ended the run.';
comment on column sync_runs.error is 'The error that ended the run, in words; for a partial run, why it is unverified or what it held back; for a skipped run, why it did not begin.';
comment on column sync_runs.started_at is 'When the run started.';
comment on column sync_runs.heartbeat_at is 'When the run last saved its progress.';
comment on column sync_runs.finished_at is 'When the run ended; null while it runs.';

-- The payload is json, not jsonb: json keeps the text as it came, including what jsonb cannot hold (a NUL character,
-- half of a surrogate pair, a key given twice).
create table rejected_records (
  id          bigint generated always as identity primary key,
  run_id      bigint,
  resource    text not null,
  record_id   text collate "C",
  reason      text not null,
  payload     json not null,
  observed_at timestamptz not null
);

-- A record that is read again in the same run is one rejection, not two; without an identifier, its text is compared.
-- Those outside a run count as one run without an end.
create unique index rejected_records_once_a_run
  on rejected_records (coalesce(run_id, 0), resource, coalesce(record_id, md5(payload::text)));

comment on table rejected_records is 'Records that the program sent and the mirror could not store, with the reason. Such a record is never marked deleted; its row, if any, keeps its last good content.';
comment on column rejected_records.id is 'Number of the rejection.';
comment on column rejected_records.run_id is 'The run that met the record (sync_runs.id); null where it was read outside a run, of which only the newest rejection of each record is kept.';
comment on column rejected_records.resource is 'What kind of record it should have been.';
comment on column rejected_records.record_id is 'Identifier of the record; null where it had none that can be used.';
comment on column rejected_records.reason is 'Why it could not be stored: which field, what was expected, the type of what came; or which constraint of the database refused it.';
comment on column rejected_records.payload is 'The record as the program sent it, in mode plain and where it names no forgotten person; what is deeper than 100 levels is replaced by a text that says so. Of a record that the database refused, the columns that it would have had.';
comment on column rejected_records.observed_at is 'When the request that brought the record was sent.';

create table schema_drift (
  run_id      bigint not null,
  resource    text not null,
  field       text not null,
  kind        text not null check (kind in ('appeared', 'vanished', 'retyped')),
  found       text,
  occurrences bigint not null,
  primary key (run_id, resource, field, kind)
);

comment on table schema_drift is 'Where the program''s answers differ from its contract: one row per run, field and kind of difference. Nothing stops because of it.';
comment on column schema_drift.run_id is 'The run that noticed (sync_runs.id).';
comment on column schema_drift.resource is 'What kind of record was read.';
comment on column schema_drift.field is 'The field, with the names of the objects around it: customer.email.';
comment on column schema_drift.kind is 'appeared: a field that the contract does not know (its values are in _extra). vanished: a field of the contract that no record of the run had. retyped: a field whose value is not what the contract says (those records are in rejected_records).';
comment on column schema_drift.found is 'An example of the type that was found; null where the field vanished.';
comment on column schema_drift.occurrences is 'How often it was noticed: once for each record, and again where the run read the record again.';

-- Which rows were held back, so that exactly those can be accepted, and no other that vanishes meanwhile.
create table held_back_deletions (
  resource     text not null,
  record_id    text collate "C" not null,
  run_id       bigint not null,
  held_back_at timestamptz not null default clock_timestamp(),
  accepted_at  timestamptz,
  accepted_by  text,
  primary key (resource, record_id),
  constraint held_back_deletions_accepted_by_somebody check ((accepted_at is null) = (accepted_by is null))
);

comment on table held_back_deletions is 'Rows that the last verified full read of their resource did not meet and that are not marked deleted. Accepted ones are looked for once more by the next full read, and marked if they are missing there too.';
comment on column held_back_deletions.resource is 'affiliates, referrals, campaigns or commissions.';
comment on column held_back_deletions.record_id is 'Identifier of the row.';
comment on column held_back_deletions.run_id is 'The last run that did not meet it (sync_runs.id).';
comment on column held_back_deletions.held_back_at is 'Since when it is held back.';
comment on column held_back_deletions.accepted_at is 'When somebody accepted that it is gone; null where nobody did.';
comment on column held_back_deletions.accepted_by is 'Who accepted it: the name of the operating system''s user.';
