-- Why: what each sync did, how far it got, what it could not store, where records differed from the contract, and what
-- the syncs compare with.
--
-- * A delta finds what changed by comparing each affiliate's counters with those of the last time that all of its
--   referrals were known to be mirrored (covered_counters). The table affiliates would not do: every nested view of an
--   affiliate refreshes it, whether its referrals were read or not.
-- * A run knows which rows it has met by their numbers (seen_rows): an index over identifiers was a quarter of the work
--   of a sync. A number is one bit per row in memory, and a plain list per batch here.

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
  attempt           integer not null default 1,
  failed_at         timestamptz,
  unanswered_since  timestamptz,
  unanswered_attempt integer,
  constraint sync_runs_counts_add_up
    check (rows_seen = rows_inserted + rows_updated + rows_unchanged + rows_rejected + rows_repeated),
  constraint sync_runs_finished_when_not_running check ((state = 'running') = (finished_at is null)),
  -- A delta reads no whole list, so there is nothing to verify it against.
  constraint sync_runs_only_a_verified_run_succeeds check (state <> 'succeeded' or verified or mode = 'delta'),
  constraint sync_runs_only_a_verified_run_deletes check (rows_deleted = 0 or verified or mode = 'delta'),
  -- Rows that live here and not in the program are no success, even where everything was read.
  constraint sync_runs_no_success_holds_back check (state <> 'succeeded' or deletes_held_back = 0)
);

-- One run of a resource at a time, for all processes.
create unique index sync_runs_one_running on sync_runs (resource) where state = 'running';
-- The last runs of a resource, for the status and for the age of the last full run.
create index sync_runs_latest on sync_runs (resource, id desc);
-- What workers ask most: which resources were synced since a moment.
create index sync_runs_ended on sync_runs (finished_at);

comment on table sync_runs is 'The run log: one row per run and resource. How fresh the mirror is, what each run changed, and whether it may be trusted.';
comment on column sync_runs.id is 'Number of the run.';
comment on column sync_runs.resource is 'The resource that was synced: affiliates, referrals, campaigns, commissions or payouts.';
comment on column sync_runs.mode is 'full: everything was read. delta: only changes were looked for.';
comment on column sync_runs.state is 'running; or how the run ended: succeeded (read to the end and verified), partial (it ended, but is unverified and marked nothing deleted, or it held deletions back; see error), failed (see error), interrupted (stopped before its end, not resumed), skipped (there was nothing to do, or another run did it).';
comment on column sync_runs.requests is 'Requests sent to the API.';
comment on column sync_runs.pages is 'Pages loaded.';
comment on column sync_runs.rows_seen is 'Records read, repeats included. Always the sum of inserted, updated, unchanged, rejected and repeated.';
comment on column sync_runs.rows_inserted is 'Records that were new to the mirror.';
comment on column sync_runs.rows_updated is 'Records whose row was changed, records that came back after a deletion included.';
comment on column sync_runs.rows_unchanged is 'Records whose row already held the same, or something newer.';
comment on column sync_runs.rows_rejected is 'Records that could not be stored; each is in rejected_records.';
comment on column sync_runs.rows_repeated is 'Records read again in the same run without anything new.';
comment on column sync_runs.rows_deleted is 'Rows marked deleted by the run.';
comment on column sync_runs.deletes_held_back is 'Rows that look deleted and were not marked, as a rule because too many looked so at once; see error and held_back_deletions.';
comment on column sync_runs.total_upstream is 'How many records the API said it had, at the end of the walk.';
comment on column sync_runs.distinct_seen is 'How many different records the run saw.';
comment on column sync_runs.verified is 'Whether it is known that the run missed nothing: it saw at least as many different records as the API said exist, each had a usable identifier, the API did not contradict itself, and nothing that was read before a stop was too old.';
comment on column sync_runs.plan is 'The plan of the run, and the requests that it expected to need.';
comment on column sync_runs.reads_everything is 'Whether the run reads all of its resource. A delta of affiliates or campaigns does, and any other delta for which that costs no more.';
comment on column sync_runs.checkpoint is 'The point at which a stopped run goes on; empty once the run has ended.';
comment on column sync_runs.error_code is 'Stable code of the error that ended the run.';
comment on column sync_runs.error is 'The error that ended the run, in words; for a partial run, why it is unverified or what it held back; for a skipped run, why it did not begin.';
comment on column sync_runs.started_at is 'When the run started.';
comment on column sync_runs.heartbeat_at is 'When the run last saved its progress.';
comment on column sync_runs.finished_at is 'When the run ended; null while it runs.';
comment on column sync_runs.attempt is 'How often the run was started: more than 1 if it was stopped or killed, and resumed.';
comment on column sync_runs.failed_at is 'When the run first failed, if it was resumed since; null otherwise.';
comment on column sync_runs.unanswered_since is 'While the run waits for a late answer of the API: when it first sent the request. Null otherwise.';
comment on column sync_runs.unanswered_attempt is 'How often it has sent that request.';

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

comment on table rejected_records is 'Records that the API sent and the mirror could not store, with the reason. Such a record is never marked deleted; its row, if any, keeps its last good content.';
comment on column rejected_records.id is 'Number of the rejection.';
comment on column rejected_records.run_id is 'The run that met the record (sync_runs.id); null if it was read outside a run, of which only the newest rejection of each record is kept.';
comment on column rejected_records.resource is 'The kind of record that it should have been.';
comment on column rejected_records.record_id is 'Identifier of the record; null if it had none that can be used.';
comment on column rejected_records.reason is 'Why it could not be stored: which field, what was expected, the type of what came; or which constraint of the database refused it.';
comment on column rejected_records.payload is 'The record as the API sent it, in mode plain and if it names no forgotten person; what is deeper than 100 levels is replaced by a text that says so. Of a record that the database refused, the columns that it would have had.';
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

comment on table schema_drift is 'Differences of the API''s answers from its contract: one row per run, field and kind of difference. Nothing stops because of it.';
comment on column schema_drift.run_id is 'The run that noticed (sync_runs.id).';
comment on column schema_drift.resource is 'The kind of record that was read.';
comment on column schema_drift.field is 'The field, with the names of the objects around it: customer.email.';
comment on column schema_drift.kind is 'appeared: a field that the contract does not know (its values are in _extra). vanished: a field of the contract that no record of the run had. retyped: a field whose value is not what the contract says (those records are in rejected_records).';
comment on column schema_drift.found is 'An example of the type that was found; null if the field vanished.';
comment on column schema_drift.occurrences is 'How often it was noticed: once for each record, and again if the run read the record again.';

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
comment on column held_back_deletions.resource is 'affiliates, referrals, campaigns, commissions or payouts.';
comment on column held_back_deletions.record_id is 'Identifier of the row.';
comment on column held_back_deletions.run_id is 'The last run that did not meet it (sync_runs.id).';
comment on column held_back_deletions.held_back_at is 'Since when it is held back.';
comment on column held_back_deletions.accepted_at is 'When a user accepted the deletion; null if no user did.';
comment on column held_back_deletions.accepted_by is 'Who accepted it: the name of the operating system''s user.';

create table covered_counters (
  affiliate_id text not null,
  run_id       bigint not null,
  visitors     bigint not null,
  leads        bigint not null,
  conversions  bigint not null,
  primary key (affiliate_id, run_id)
);

comment on table covered_counters is 'The counters that each affiliate had before a run of referrals that then covered all of its referrals. Counts only if that run was verified. A delta sync compares with them; nothing for analysis.';
comment on column covered_counters.affiliate_id is 'The affiliate.';
comment on column covered_counters.run_id is 'The run of referrals (sync_runs.id).';
comment on column covered_counters.visitors is 'The affiliate''s visitors when the run began.';
comment on column covered_counters.leads is 'The affiliate''s leads when the run began.';
comment on column covered_counters.conversions is 'The affiliate''s conversions when the run began.';

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

create table optional_lists (
  resource  text primary key,
  setting   text not null default 'auto' check (setting in ('auto', 'on', 'off')),
  is_served boolean,
  is_used   boolean not null
            generated always as (setting = 'on' or setting = 'auto' and coalesce(is_served, false)) stored,
  found_at  timestamptz,
  found_by  text,
  asked_at  timestamptz,
  problem   text,
  constraint optional_lists_found_is_whole
    check ((is_served is null) = (found_at is null) and (is_served is null) = (found_by is null))
);

insert into optional_lists (resource) values ('campaigns'), ('commissions'), ('payouts');

comment on table optional_lists is 'Whether the API has each of the lists that its contract does not show and some APIs have: it is asked once a day. One row per list.';
comment on column optional_lists.resource is 'The listed resource: campaigns, commissions or payouts.';
comment on column optional_lists.setting is 'OPTIONAL_LISTS, as it was last configured of this list: auto, on or off.';
comment on column optional_lists.is_served is 'Whether the API has the list, as it last said; null if it was never asked, or never answered in a way that says so.';
comment on column optional_lists.is_used is 'Whether the table of that name (and sales, of commissions) is read from the list, and so holds all of them; otherwise it holds the known ones.';
comment on column optional_lists.found_at is 'When it said so.';
comment on column optional_lists.found_by is 'The version of affiliate-mirror that asked; another one asks again.';
comment on column optional_lists.asked_at is 'When it was last asked.';
comment on column optional_lists.problem is 'Why its last answer decided nothing; null if it did.';
