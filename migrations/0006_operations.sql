-- Why: what all processes of a mirror share: the request budget, the state of the workers, how far pruning and exports
-- came, and the alerts.
--
-- * One request budget for every process that talks to the program, kept where all of them already meet.
-- * Numbers ascend with time, so what is over age is found by the primary key: no index on any time.
-- * An incremental export goes on where the last one to the same target ended. That is kept here and not in the target's
--   manifests: who loads an export may move or delete it afterwards, and an access key that may only write is enough so.
-- * An alert is a row before it is sent, so that no restart loses one and several workers never send it twice.

create table request_budget (
  only_row            boolean primary key default true check (only_row),
  limit_requests      integer,
  limit_until         timestamptz,
  foreign_requests    integer not null default 0,
  foreign_until       timestamptz,
  paused_until        timestamptz,
  asks_alone          boolean not null default false,
  last_throttled_at   timestamptz,
  payments_wait_until timestamptz
);

insert into request_budget default values;

comment on table request_budget is 'The account''s request limit as far as it is known, shared by every process. One row. A limit that an answer names holds until the reset that it names, and never for longer than some minutes.';
comment on column request_budget.only_row is 'Always true: keeps the table at one row.';
comment on column request_budget.limit_requests is 'The limit that the API''s answers name, if it is lower than the configured one.';
comment on column request_budget.limit_until is 'Until when that lower limit holds, unless an answer names it again.';
comment on column request_budget.foreign_requests is 'Requests that other users of the account must have made: so many fewer remain than this mirror would send.';
comment on column request_budget.foreign_until is 'Until when those count.';
comment on column request_budget.paused_until is 'No process sends a request before this moment: the API answered 429, or that no request remains.';
comment on column request_budget.asks_alone is 'True from a pause until the first answer after it: until then requests are sent one at a time.';
comment on column request_budget.last_throttled_at is 'When the API last answered 429.';
comment on column request_budget.payments_wait_until is 'A payment waits for a permit until about this moment: reads step back to their floor.';

create table request_permits (
  id          bigint generated always as identity primary key,
  priority    text not null check (priority in ('reads', 'payments')),
  granted_at  timestamptz not null,
  returned_at timestamptz,
  expires_at  timestamptz not null
);

create index request_permits_expire on request_permits (expires_at);

comment on table request_permits is 'The requests that still count against the account''s limit: those in flight and those of the last window.';
comment on column request_permits.id is 'Number of the permit.';
comment on column request_permits.priority is 'payments: a commission update. reads: everything else.';
comment on column request_permits.granted_at is 'When the request was allowed to be sent.';
comment on column request_permits.returned_at is 'When its answer came, or it was given up. Null while in flight.';
comment on column request_permits.expires_at is 'When the permit ceases to count: a window after the answer; or, without one, a window after the longest time that the request may take.';

create table worker_state (
  only_row      boolean primary key default true check (only_row),
  queue_id      uuid not null default gen_random_uuid(),
  made_at       timestamptz not null default clock_timestamp(),
  refused_at    timestamptz,
  refused_code  text,
  probed_at     timestamptz,
  next_probe_at timestamptz,
  probes        integer not null default 0
);

insert into worker_state default values;

comment on table worker_state is 'State that all workers of this mirror share. One row. Nothing for analysis.';
comment on column worker_state.only_row is 'Always true: keeps the table at one row.';
comment on column worker_state.queue_id is 'Tells this mirror''s queue in Redis from that of every other mirror, together with the database that this row is in: a copy of the mirror has a queue of its own.';
comment on column worker_state.made_at is 'When this mirror was made: no tick of a schedule before that counts as missed.';
comment on column worker_state.refused_at is 'Since when no job asks the API: it refuses the secret, serves another account than the mirror''s, or is away. Null if jobs ask it.';
comment on column worker_state.refused_code is 'Code of the error for which no job asks the API, such as API_UNAUTHORIZED, PROGRAM_CHANGED or API_UNREACHABLE. Null if jobs ask it.';
comment on column worker_state.probed_at is 'When the API was last tried with a single request.';
comment on column worker_state.next_probe_at is 'When a worker tries the API again. Null if jobs ask it.';
comment on column worker_state.probes is 'How often it was tried in vain: the pauses between grow.';

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

comment on table pruned_tables is 'Which tables lose old rows, after how many days, and how far that went: one row per table that a worker looks at.';
comment on column pruned_tables.table_name is 'The table.';
comment on column pruned_tables.keep_days is 'How many days its rows are kept, as the last worker was configured; null: for ever.';
comment on column pruned_tables.pruned_before is 'Rows from before this moment may have been deleted; null if none was.';
comment on column pruned_tables.rows_deleted is 'How many rows were deleted in all.';
comment on column pruned_tables.last_deleted_at is 'When the last of them were deleted.';
comment on column pruned_tables.looked_at is 'When a worker last looked at the whole of it.';
comment on column pruned_tables.reached is 'How far the looking has come (an id of the table); the worker''s own.';
comment on column pruned_tables.begun_at is 'When it last began at the first row; the worker''s own.';

create table exports (
  target      text not null,
  object      text not null,
  kind        text not null check (kind in ('whole', 'changes')),
  watermark   timestamptz,
  rows        bigint not null,
  location    text,
  began_at    timestamptz not null,
  exported_at timestamptz not null default clock_timestamp(),
  primary key (target, object, kind)
);

comment on table exports is 'The last export of each table or view to each target, by the worker''s schedule or with --incremental. Nothing for analysis.';
comment on column exports.target is 'The directory, or the bucket with its prefix and its service.';
comment on column exports.object is 'The table or view as it was named; of changes the table alone.';
comment on column exports.kind is 'whole: every row; changes: the rows that changed since the export before it.';
comment on column exports.watermark is 'The highest _changed_at that was exported, for changes. The next export goes on from there. Delete the row to export everything once more. Null if there was no row.';
comment on column exports.rows is 'How many rows the last export that wrote something had.';
comment on column exports.location is 'Place of that export; null if there was never anything to write.';
comment on column exports.began_at is 'When the last export began: it has all that was committed by then.';
comment on column exports.exported_at is 'When the last export ended, also one that had nothing to write.';

create table alerts (
  id          bigint generated always as identity primary key,
  uid         uuid not null default gen_random_uuid(),
  code        text not null,
  resource    text,
  what        text not null,
  fix         text not null,
  error_code  text,
  since       timestamptz,
  noticed_at  timestamptz not null default clock_timestamp(),
  opened_at   timestamptz,
  well_at     timestamptz,
  resolved_at timestamptz,
  check (resolved_at is null or opened_at is not null)
);

-- What makes a second message for one cause impossible, however many workers look.
create unique index alerts_unresolved on alerts (code, resource) nulls not distinct where resolved_at is null;
create index alerts_resolved on alerts (resolved_at);

comment on table alerts is 'Alerts, from the moment at which a worker noticed their cause. Nothing for analysis.';
comment on column alerts.id is 'Primary key.';
comment on column alerts.uid is 'Names the alert in its messages, so that a receiver knows one that came twice.';
comment on column alerts.code is 'Stable name of the cause, as status --json has it.';
comment on column alerts.resource is 'The resource that it is about; null if it is about none, or several.';
comment on column alerts.what is 'The fault when it opened, in words of affiliate-mirror: no text of an error, which may quote a person.';
comment on column alerts.fix is 'The command to run, which fixes it or says more.';
comment on column alerts.error_code is 'Stable code of the error behind it, if there is one.';
comment on column alerts.since is 'Since when it was wrong, if that is known.';
comment on column alerts.noticed_at is 'When a worker first saw it.';
comment on column alerts.opened_at is 'When it had held for long enough to be an alert; null before.';
comment on column alerts.well_at is 'Since when an open alert is no longer seen, if that must hold for a while before it counts. Null while it is seen.';
comment on column alerts.resolved_at is 'When it was well again; null before.';

create table alert_notices (
  id              bigint generated always as identity primary key,
  alert_id        bigint not null references alerts on delete cascade,
  kind            text not null check (kind in ('opened', 'resolved')),
  channel         text not null check (channel in ('webhook', 'email')),
  state           text not null default 'pending' check (state in ('pending', 'sent', 'given_up', 'skipped')),
  attempts        integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  claimed_until   timestamptz,
  is_in_doubt     boolean not null default false,
  last_error_code text,
  made_at         timestamptz not null default clock_timestamp(),
  settled_at      timestamptz,
  unique (alert_id, kind, channel)
);

create index alert_notices_pending on alert_notices (channel, id) where state = 'pending';

comment on table alert_notices is 'The messages of the alerts: at most one for each alert, kind and channel. Nothing for analysis.';
comment on column alert_notices.id is 'Primary key. The messages of a channel are sent in this order.';
comment on column alert_notices.alert_id is 'Refers to alerts.id.';
comment on column alert_notices.kind is 'opened: something is wrong; resolved: it is well again.';
comment on column alert_notices.channel is 'webhook: ALERT_WEBHOOK_URL; email: ALERT_EMAIL.';
comment on column alert_notices.state is 'pending: to be sent; sent: accepted by the receiver; given_up: never accepted; skipped: of no use any more when its turn came.';
comment on column alert_notices.attempts is 'How often a worker set out to send it.';
comment on column alert_notices.next_attempt_at is 'When it is tried next.';
comment on column alert_notices.claimed_until is 'Until when one worker alone may send it. In the past: that worker ended, or was stopped, in the middle.';
comment on column alert_notices.is_in_doubt is 'Whether an attempt without an answer may have arrived all the same.';
comment on column alert_notices.last_error_code is 'Stable code of why the last attempt failed.';
comment on column alert_notices.made_at is 'When it was written down.';
comment on column alert_notices.settled_at is 'When it was sent, given up or skipped.';

create table alert_watch (
  only_row     boolean primary key default true check (only_row),
  next_look_at timestamptz not null default clock_timestamp()
);

insert into alert_watch default values;

comment on table alert_watch is 'When a worker looks for alerts next: one of them does. One row. Nothing for analysis.';
comment on column alert_watch.only_row is 'Always true: keeps the table at one row.';
comment on column alert_watch.next_look_at is 'Not before this.';
