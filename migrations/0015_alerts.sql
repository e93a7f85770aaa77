-- Why: an alert is a row before anybody hears of it, so that no restart loses one and no number of workers tells it twice;
-- and what the last comparison of the books with the program found is known to more than the terminal that it ran in.
-- Lock taken: none on anything that exists (new tables). Breaking: no.

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

comment on table alerts is 'What somebody should be notified of, from the moment that a worker noticed it. Nothing for analysis.';
comment on column alerts.id is 'Primary key.';
comment on column alerts.uid is 'Names the alert in its messages, so that a receiver knows one that came twice.';
comment on column alerts.code is 'Stable name of the cause, as status --json has it.';
comment on column alerts.resource is 'The resource that it is about; null where it is about none, or several.';
comment on column alerts.what is 'What was wrong when it opened, in words of affiliate-mirror: no text of an error, which may quote a person.';
comment on column alerts.fix is 'The command to run, which fixes it or says more.';
comment on column alerts.error_code is 'Stable code of the error behind it, where there is one.';
comment on column alerts.since is 'Since when it was wrong, where that is known.';
comment on column alerts.noticed_at is 'When a worker first saw it.';
comment on column alerts.opened_at is 'When it had held for long enough to be an alert; null before.';
comment on column alerts.well_at is 'Since when an open alert is no longer seen, where that must hold for a while before it counts. Null while it is seen.';
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

create table books_comparisons (
  books        text primary key check (books in ('file', 'payment_ledger')),
  since        timestamptz,
  compared_at  timestamptz not null default clock_timestamp(),
  compared     bigint not null,
  differing    bigint not null,
  differ_since timestamptz
);

comment on table books_comparisons is 'What the last comparison of the books with the program found (commissions reconcile). Nothing for analysis.';
comment on column books_comparisons.books is 'file: a file of payments; payment_ledger: what was paid and is payable here (--due).';
comment on column books_comparisons.since is 'Payments before this were left out (--since). Null where none were.';
comment on column books_comparisons.compared_at is 'When it ended.';
comment on column books_comparisons.compared is 'Commissions that were compared.';
comment on column books_comparisons.differing is 'Those of them that differed.';
comment on column books_comparisons.differ_since is 'When the first comparison ended that found differences, with none that found none after it. Null where the last one found none.';
