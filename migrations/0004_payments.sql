-- Why: the requests to change commissions in the program and to pay its payouts, what became of each, and every request
-- that was sent for it; and the known commissions, which the mirror asks for one by one where the program does not list
-- them.
--
-- * A row of commission_updates is a request, an outbox entry and a line of the payment ledger at once: what was asked
--   never changes, what became of it is added. Every role that may insert can ask; the writer does the rest. A payout is
--   asked for in the same table: order, claims, keys and ends are the same, and one of its two identifiers is set.
-- * Inserting transactions take turns (an advisory lock, held until they end): so the numbers of requests are the
--   order in which they were asked for, also across processes. Insert in short transactions.
-- * Invalid requests are refused by a trigger (functions/payments.sql), since the message of a check constraint cannot
--   say how to fix them; the constraints hold for updates as well.

create table commission_updates (
  id                   bigint generated always as identity primary key,
  batch_id             text,
  commission_id        text collate "C",
  payout_id            text collate "C",
  action               text not null,
  paid_at              timestamptz,
  due_at               timestamptz,
  expected_unpaid      boolean not null default false,
  expected_paid_at     timestamptz,
  expected_amount      bigint,
  expected_currency    text,
  expected_commissions integer,
  reason               text,
  requested_by         text not null default current_user,
  database_user        text not null default session_user,
  idempotency_key      text,
  supersede            boolean not null default false,
  even_if_refunded     boolean not null default false,
  requested_at         timestamptz not null default clock_timestamp(),
  state                text not null default 'pending',
  outcome              text,
  note                 text,
  before               jsonb,
  after                jsonb,
  attempts             integer not null default 0,
  next_attempt_at      timestamptz not null default clock_timestamp(),
  last_error           text,
  put_sent_at          timestamptz,
  commission_ids       text[],
  claimed_by           text,
  claimed_until        timestamptz,
  finished_at          timestamptz,
  constraint commission_updates_idempotency_key_is_used_once unique (idempotency_key),
  constraint commission_updates_idempotency_key_is_short check (length(idempotency_key) <= 200),
  constraint commission_updates_action_is_pay_unpay_or_due check (action in ('pay', 'unpay', 'due')),
  constraint commission_updates_names_a_commission_or_a_payout check (num_nonnulls(commission_id, payout_id) = 1),
  constraint commission_updates_payout_is_paid check (payout_id is null or action = 'pay'),
  constraint commission_updates_payout_expects_money check
    (payout_id is null or not expected_unpaid and expected_paid_at is null),
  constraint commission_updates_expects_commissions_of_a_payout check
    (payout_id is not null or expected_commissions is null),
  constraint commission_updates_pay_needs_paid_at check
    ((action = 'pay' and payout_id is null) = (paid_at is not null)),
  constraint commission_updates_due_needs_due_at check ((action = 'due') = (due_at is not null)),
  constraint commission_updates_even_if_refunded_is_for_pay check (action = 'pay' or not even_if_refunded),
  constraint commission_updates_expects_paid_or_unpaid check (not (expected_unpaid and expected_paid_at is not null)),
  constraint commission_updates_state_is_known check (state in
    ('pending', 'applied', 'unchanged', 'conflict', 'not_found', 'rejected', 'failed', 'superseded', 'cancelled')),
  constraint commission_updates_finished_when_not_pending check ((state = 'pending') = (finished_at is null)),
  constraint commission_updates_end_says_why check (state = 'pending' or outcome is not null)
);

-- The oldest pending request of a commission or a payout, which alone may be applied.
create index commission_updates_pending on commission_updates (coalesce(commission_id, payout_id), id)
  where state = 'pending';
-- The next requests to apply, oldest first.
create index commission_updates_next on commission_updates (id) where state = 'pending';
-- The history of one commission or payout, the payouts that a commission was paid with, and a batch as a whole.
create index commission_updates_of_subject on commission_updates (coalesce(commission_id, payout_id), id);
create index commission_updates_of_commission on commission_updates (commission_id, id);
create index commission_updates_of_payout on commission_updates (payout_id, id) where payout_id is not null;
create index commission_updates_in_payout on commission_updates using gin (commission_ids)
  where commission_ids is not null;
create index commission_updates_of_batch on commission_updates (batch_id, id);

comment on table commission_updates is 'Requests to change commissions in the API or to pay its payouts, and what became of each: who asked for what, when and why, what was there before, what the API answered. To ask, insert a row (the columns up to even_if_refunded). Nothing in it is ever deleted.';
comment on column commission_updates.id is 'Number of the request. The requests for one commission or payout are applied in this order.';
comment on column commission_updates.batch_id is 'Name of the batch that the request belongs to, chosen by the requester; null if it is in no batch.';
comment on column commission_updates.commission_id is 'The commission to change (commissions.id); null if a payout is to be paid.';
comment on column commission_updates.payout_id is 'The payout to pay, with all of its commissions (payouts.id); null if one commission is to be changed.';
comment on column commission_updates.action is 'pay: mark it paid at paid_at, or pay the payout. unpay: mark it unpaid. due: make it payable from due_at.';
comment on column commission_updates.paid_at is 'For pay of a commission: the timestamp of the payment, past or future. Empty for everything else; the API gives a payout its time itself.';
comment on column commission_updates.due_at is 'For due: the timestamp from which the commission is payable. Empty for everything else.';
comment on column commission_updates.expected_unpaid is 'True: apply it only if the commission is unpaid in the API at that time; otherwise the request ends as conflict.';
comment on column commission_updates.expected_paid_at is 'Apply it only if the API has the commission as paid at this timestamp (which it may have cut to the second or the millisecond); null expects nothing.';
comment on column commission_updates.expected_amount is 'Apply it only if the commission or the payout has this amount, in the unit of commissions.amount; null expects nothing.';
comment on column commission_updates.expected_currency is 'Apply it only if the commission or the payout is in this currency; null expects nothing.';
comment on column commission_updates.expected_commissions is 'Pay the payout only if it has so many commissions; null expects nothing.';
comment on column commission_updates.reason is 'Why it was asked for, in the requester''s words.';
comment on column commission_updates.requested_by is 'Who asked, as named by the requester; the database user if no name was given.';
comment on column commission_updates.database_user is 'The database user that inserted the request. Cannot be chosen.';
comment on column commission_updates.idempotency_key is 'Names the request: inserting the same request under the same key again does nothing, and another request under it is refused. At most 200 characters. Null: no such protection.';
comment on column commission_updates.supersede is 'True: older requests for the same commission that wait to change the same thing are dropped in favour of this one.';
comment on column commission_updates.even_if_refunded is 'For pay: true pays it even if its sale was refunded in full, or a commission of the payout was, or is voided. False: it then ends as conflict, since nothing is owed any more.';
comment on column commission_updates.requested_at is 'When the request was inserted.';
comment on column commission_updates.state is 'pending, or how it ended: applied (the API has it as asked), unchanged (it was so already; nothing was sent), conflict (what was expected did not hold, its sale was refunded, or another user changed it after a change whose answer was lost; nothing more was sent), not_found (the API has no such commission), rejected (refused, see outcome), failed (tried often enough without success; may be retried), superseded (dropped for a newer request), cancelled.';
comment on column commission_updates.outcome is 'How it ended, in words; null while pending.';
comment on column commission_updates.note is 'A remark on the outcome, such as that the API cut the time to whole seconds.';
comment on column commission_updates.before is 'The values of the API before the request was applied or refused: paid_at, due_at, amount, currency, state, voided_at, updated_at; of a payout also the number of its commissions.';
comment on column commission_updates.after is 'The answer of the API to the change; if that was lost or did not show it, what it had when the commission was read again.';
comment on column commission_updates.attempts is 'How often it was tried without success while the API was answering others, or its outcome was refused by the database. Outages and 429 do not count.';
comment on column commission_updates.next_attempt_at is 'Not tried before this time.';
comment on column commission_updates.last_error is 'Why the last try did not succeed, or could not be noted; null if none failed.';
comment on column commission_updates.put_sent_at is 'When the writer first set out to send the change; null while nothing can have been sent.';
comment on column commission_updates.commission_ids is 'The commissions of the payout when the writer set out to pay it; null of a commission.';
comment on column commission_updates.claimed_by is 'The writer that works on it. Nothing for analysis.';
comment on column commission_updates.claimed_until is 'Until when that writer has it for itself; the writer extends it while it runs. Nothing for analysis.';
comment on column commission_updates.finished_at is 'When it ended; null while pending.';

create table commission_update_attempts (
  id          bigint generated always as identity primary key,
  update_id   bigint not null references commission_updates (id),
  method      text not null,
  sent_at     timestamptz not null,
  duration_ms integer,
  status      integer,
  error_code  text,
  error       text,
  sent        text,
  received    jsonb,
  constraint commission_update_attempts_reads_or_writes check (method in ('GET', 'PUT'))
);

create index commission_update_attempts_of_update on commission_update_attempts (update_id, sent_at);

comment on table commission_update_attempts is 'Every HTTP request that was sent to the API for a commission update. A change is noted here before it is sent; sent_at gives the order.';
comment on column commission_update_attempts.id is 'Number of the attempt.';
comment on column commission_update_attempts.update_id is 'The request that it was sent for (commission_updates.id).';
comment on column commission_update_attempts.method is 'GET: the commission or payout was read. PUT: it was changed.';
comment on column commission_update_attempts.sent_at is 'When it was sent; for a PUT, when the writer set out to send it.';
comment on column commission_update_attempts.duration_ms is 'Milliseconds until the answer or the failure; null if the writer was stopped before it knew.';
comment on column commission_update_attempts.status is 'HTTP status of the answer; null if none came.';
comment on column commission_update_attempts.error_code is 'Stable code of the error; null if it succeeded, or was repeated at once.';
comment on column commission_update_attempts.error is 'The error, in words.';
comment on column commission_update_attempts.sent is 'The form that was sent with a PUT; null of a payout, which takes none.';
comment on column commission_update_attempts.received is 'The answer of the API: paid_at, due_at, amount, currency, state; null if none came.';

create table tracked_commissions (
  commission_id  text primary key,
  tracked_by     text not null default current_user,
  tracked_at     timestamptz not null default clock_timestamp(),
  next_poll_at   timestamptz default clock_timestamp(),
  last_polled_at timestamptz,
  last_error     text
);

create index tracked_commissions_next on tracked_commissions (next_poll_at) where next_poll_at is not null;

comment on table tracked_commissions is 'The commissions that the mirror keeps asking the API for, if it does not list them (optional_lists). To have one mirrored, insert its identifier.';
comment on column tracked_commissions.commission_id is 'The commission (commissions.id).';
comment on column tracked_commissions.tracked_by is 'Who wanted it.';
comment on column tracked_commissions.tracked_at is 'Since when it is asked for.';
comment on column tracked_commissions.next_poll_at is 'When the API is asked for it again; null if it is gone, and not asked for until it is tracked or changed anew.';
comment on column tracked_commissions.last_polled_at is 'When the API last answered for it.';
comment on column tracked_commissions.last_error is 'Why the last request was not answered, or its answer not mirrored; null if it was.';

create table books_comparisons (
  books        text primary key check (books in ('file', 'payment_ledger')),
  since        timestamptz,
  compared_at  timestamptz not null default clock_timestamp(),
  compared     bigint not null,
  differing    bigint not null,
  differ_since timestamptz
);

comment on table books_comparisons is 'What noted comparisons of the books with the API found (commissions reconcile --note). Nothing for analysis.';
comment on column books_comparisons.books is 'file: a file of payments; payment_ledger: what was paid and is payable here (--due).';
comment on column books_comparisons.since is 'In the last one, payments before this were left out (--since). Null if none were.';
comment on column books_comparisons.compared_at is 'When the last one ended.';
comment on column books_comparisons.compared is 'Commissions that it compared.';
comment on column books_comparisons.differing is 'Commissions that differ (books_differences), without differences that were accepted.';
comment on column books_comparisons.differ_since is 'When the first comparison ended that found differences, of those since which there always were some. Null if there are none.';

create table books_differences (
  books         text not null references books_comparisons,
  commission_id text not null,
  difference    text not null,
  reason        text,
  accepted_by   text,
  accepted_at   timestamptz,
  primary key (books, commission_id)
);

comment on table books_differences is 'Commissions that differed when a noted comparison last compared them, an amount by an amount, and those whose difference was accepted. Nothing for analysis.';
comment on column books_differences.books is 'The books that were compared (books_comparisons.books).';
comment on column books_differences.commission_id is 'The commission (commissions.id).';
comment on column books_differences.difference is 'What differed: the finding, then times, amounts and currencies of books and API.';
comment on column books_differences.reason is 'Why it was accepted, in the user''s words; null if it was not. It is accepted until it changes.';
comment on column books_differences.accepted_by is 'Who accepted it.';
comment on column books_differences.accepted_at is 'When it was accepted.';
