-- Why: the requests to change commissions in the program, what became of each, and every request that was sent for it.
-- Lock taken: none on anything that exists (new tables only). Breaking: no.
--
-- Decisions
-- * A row is a request, an outbox entry and a line of the payment ledger at once: what was asked never changes, what
--   became of it is added. Anyone who may insert can ask; the writer does the rest.
-- * Inserting transactions take turns (an advisory lock, held until they end): so the numbers of requests are the
--   order in which they were asked for, also across processes. Insert in short transactions.
-- * Invalid requests are refused by a trigger, since the message of a check constraint cannot say how to fix them; the
--   constraints are there as well, for whoever updates.
-- * The trigger functions run with their owner's rights, so that asking needs nothing but INSERT on a few columns.

create table commission_updates (
  id                bigint generated always as identity primary key,
  batch_id          text,
  commission_id     text collate "C" not null,
  action            text not null,
  paid_at           timestamptz,
  due_at            timestamptz,
  expected_unpaid   boolean not null default false,
  expected_paid_at  timestamptz,
  expected_amount   bigint,
  expected_currency text,
  reason            text,
  requested_by      text not null default current_user,
  database_user     text not null default session_user,
  idempotency_key   text,
  supersede         boolean not null default false,
  even_if_refunded  boolean not null default false,
  requested_at      timestamptz not null default clock_timestamp(),
  state             text not null default 'pending',
  outcome           text,
  note              text,
  before            jsonb,
  after             jsonb,
  attempts          integer not null default 0,
  next_attempt_at   timestamptz not null default clock_timestamp(),
  last_error        text,
  put_sent_at       timestamptz,
  claimed_by        text,
  claimed_until     timestamptz,
  finished_at       timestamptz,
  constraint commission_updates_idempotency_key_is_used_once unique (idempotency_key),
  constraint commission_updates_idempotency_key_is_short check (length(idempotency_key) <= 200),
  constraint commission_updates_action_is_pay_unpay_or_due check (action in ('pay', 'unpay', 'due')),
  constraint commission_updates_pay_needs_paid_at check ((action = 'pay') = (paid_at is not null)),
  constraint commission_updates_due_needs_due_at check ((action = 'due') = (due_at is not null)),
  constraint commission_updates_even_if_refunded_is_for_pay check (action = 'pay' or not even_if_refunded),
  constraint commission_updates_expects_paid_or_unpaid check (not (expected_unpaid and expected_paid_at is not null)),
  constraint commission_updates_state_is_known check (state in
    ('pending', 'applied', 'unchanged', 'conflict', 'not_found', 'rejected', 'failed', 'superseded', 'cancelled')),
  constraint commission_updates_finished_when_not_pending check ((state = 'pending') = (finished_at is null)),
  constraint commission_updates_end_says_why check (state = 'pending' or outcome is not null)
);

-- The oldest pending request of a commission, which alone may be applied.
create index commission_updates_pending on commission_updates (commission_id, id) where state = 'pending';
-- The next requests to apply, oldest first.
create index commission_updates_next on commission_updates (id) where state = 'pending';
-- The history of one commission, and a batch as a whole.
create index commission_updates_of_commission on commission_updates (commission_id, id);
create index commission_updates_of_batch on commission_updates (batch_id, id);

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

create function take_turns_requesting() returns trigger
language plpgsql
set search_path from current
as $$
begin
  -- Off, the commit is answered before it is on the disk: a crash of Postgres would undo what was accepted.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(
    hashtextextended('affiliate-mirror commission updates of ' || tg_table_schema, 0));
  return null;
end
$$;

-- The one rule of what is the same: the trigger follows it, and ask_for_updates answers by it.
create function is_same_request(earlier commission_updates, asked commission_updates) returns boolean
language sql
immutable
as $$
  select (earlier.commission_id, earlier.action, earlier.paid_at, earlier.due_at, earlier.expected_unpaid,
          earlier.expected_paid_at, earlier.expected_amount, earlier.expected_currency, earlier.supersede,
          earlier.even_if_refunded)
         is not distinct from
         (asked.commission_id, asked.action, asked.paid_at, asked.due_at, asked.expected_unpaid,
          asked.expected_paid_at, asked.expected_amount, asked.expected_currency, asked.supersede,
          asked.even_if_refunded)
$$;

-- The last request that came later for the same value of the commission and has its way, or may have it.
create function overtaken_by(earlier commission_updates) returns bigint
language sql
stable
set search_path from current
as $$
  select max(later.id) from commission_updates later
  where later.commission_id = earlier.commission_id and later.id > earlier.id
    and (later.action = 'due') = (earlier.action = 'due')
    and later.state in ('pending', 'applied', 'unchanged')
$$;

-- Answers each row, and asks for those that are new; a dry run only answers. A row is a JSON object with the columns of
-- a request (commission_id to even_if_refunded), and may have two fields more: unless_waiting (true: a row without a key
-- is answered by a request that waits for the same) and same_as (the number of a request that does the same, as the
-- caller found). The function takes its turn first, and so sees every request of an earlier transaction. The trigger
-- stays the rule: it refuses a key that is taken, and with it all rows.
create function ask_for_updates(
  asked jsonb, batch text default null, requester text default null, is_dry_run boolean default false
) returns table (place bigint, answer text, request bigint, overtaken_by bigint, behind bigint)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  blank constant text := E' \t\r\n';
begin
  -- As the trigger keeps them.
  asked := (
    select coalesce(jsonb_agg(
      '{"expected_unpaid": false, "supersede": false, "even_if_refunded": false}' || one || jsonb_build_object(
        'commission_id', lower(btrim(one ->> 'commission_id', blank)),
        'expected_currency', upper(nullif(btrim(one ->> 'expected_currency', blank), '') collate "C"),
        'idempotency_key', nullif(btrim(one ->> 'idempotency_key', blank), '')
      ) order by nr), '[]')
    from jsonb_array_elements(asked) with ordinality as input (one, nr)
  );

  if is_dry_run then
    return query
    with input as materialized (
      select nr, one, jsonb_populate_record(null::commission_updates, one) as wanted
      from jsonb_array_elements(asked) with ordinality as input (one, nr)
    )
    select nr,
           case when (earlier).id is null then 'new'
                when is_other then 'key taken'
                when later is not null then 'overtaken'
                when (earlier).state = 'pending' then 'waits'
                else 'asked already' end,
           (earlier).id, later, waiting.id
    from input
    left join lateral (
      select earlier, is_other
      from (
        select 1 as turn, false as is_other, known as earlier
        from commission_updates known
        where known.id = (one ->> 'same_as')::bigint
        union all
        select case when named.state in ('pending', 'applied', 'unchanged') then 2 else 4 end,
               not is_same_request(named, wanted), named
        from commission_updates named
        where named.idempotency_key = (wanted).idempotency_key
        union all
        -- A pay with even_if_refunded and the same pay without it are two requests, so that one that a refund held back
        -- can be asked for with it. They are one payment all the same: where one of them waits or succeeded, the other
        -- asks for nothing. Both have keys that are made of what they ask for: any other key goes by itself alone.
        select 3, false, twin
        from commission_updates twin
        where (wanted).action = 'pay'
          and left((wanted).idempotency_key, 4) = 'row:' and length((wanted).idempotency_key) = 44
          and twin.commission_id = (wanted).commission_id and twin.state in ('pending', 'applied', 'unchanged')
          and left(twin.idempotency_key, 4) = 'row:' and length(twin.idempotency_key) = 44
          and is_same_request(twin, jsonb_populate_record(
            wanted, jsonb_build_object('even_if_refunded', not (wanted).even_if_refunded)))
        union all
        -- A second one would find the commission changed by the first, and end as conflict.
        select 5, false, same
        from commission_updates same
        where (wanted).idempotency_key is null and (one ->> 'unless_waiting')::boolean
          and same.commission_id = (wanted).commission_id and same.state = 'pending'
          and is_same_request(same, wanted) and overtaken_by(same) is null
      ) found
      order by turn, (earlier).id desc
      limit 1
    ) found on true
    left join lateral overtaken_by(earlier) as later on true
    -- What supersedes drops them. + 0: for max(id) alone, Postgres walks all that wait, by number.
    left join lateral (
      select max(older.id + 0) as id
      from commission_updates older
      where (earlier).id is null and not (wanted).supersede
        and older.commission_id = (wanted).commission_id and older.state = 'pending'
        and (older.action = 'due') = ((wanted).action = 'due')
    ) waiting on true
    order by nr;
    return;
  end if;

  perform pg_advisory_xact_lock(hashtextextended('affiliate-mirror commission updates of ' || current_schema(), 0));
  return query
  with answered as materialized (
    select place, answer, request, overtaken_by, behind,
           jsonb_populate_record(null::commission_updates, one) as wanted
    from ask_for_updates(asked, is_dry_run => true)
    join jsonb_array_elements(asked) with ordinality as input (one, place) using (place)
  ), inserted as (
    insert into commission_updates (
      batch_id, commission_id, action, paid_at, due_at, expected_unpaid, expected_paid_at, expected_amount,
      expected_currency, reason, requested_by, idempotency_key, supersede, even_if_refunded
    )
    select batch, (wanted).commission_id, (wanted).action, (wanted).paid_at, (wanted).due_at, (wanted).expected_unpaid,
           (wanted).expected_paid_at, (wanted).expected_amount, (wanted).expected_currency, (wanted).reason,
           coalesce(requester, current_user), (wanted).idempotency_key, (wanted).supersede, (wanted).even_if_refunded
    from answered
    where answer in ('new', 'key taken')
    order by place
    returning id
  ), numbered as (
    select id, row_number() over (order by id) as turn from inserted
  ), turns as (
    -- Rows with one key are one request. The requests have their numbers in the order of the rows.
    select place, dense_rank() over (order by first) as turn
    from (
      select place, min(place) over (partition by coalesce('key ' || (wanted).idempotency_key, 'row ' || place)) as first
      from answered
      where answer = 'new'
    ) firsts
  )
  select place, answer, coalesce(request, id), overtaken_by, behind
  from answered
  left join turns using (place)
  left join numbered using (turn)
  order by place;
end
$$;

create function check_commission_update() returns trigger
language plpgsql
security definer
as $$
declare
  blank constant text := E' \t\r\n';
  earlier commission_updates;
begin
  new.commission_id := lower(btrim(new.commission_id, blank));
  new.expected_currency := upper(nullif(btrim(new.expected_currency, blank), '') collate "C");
  new.idempotency_key := nullif(btrim(new.idempotency_key, blank), '');
  new.batch_id := nullif(btrim(new.batch_id, blank), '');
  new.requested_by := coalesce(nullif(btrim(new.requested_by, blank), ''), session_user);
  new.database_user := session_user;
  new.requested_at := clock_timestamp();

  if new.commission_id is null
     or new.commission_id !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
    raise exception using errcode = 'check_violation',
      message = format('commission_id %s is not the identifier of a commission', coalesce(quote_literal(new.commission_id), 'null')),
      hint = 'It is a UUID such as 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11.';
  end if;
  if new.action is null or new.action not in ('pay', 'unpay', 'due') then
    raise exception using errcode = 'check_violation',
      message = format('unknown action %s for commission %s', coalesce(quote_literal(new.action), 'null'), new.commission_id),
      hint = 'The actions are pay (with paid_at), unpay (alone) and due (with due_at).';
  end if;
  if new.action = 'pay' and new.paid_at is null then
    raise exception using errcode = 'check_violation',
      message = format('pay without a timestamp: paid_at is empty for commission %s', new.commission_id),
      hint = 'Give the timestamp of the payment in paid_at. To take a payment back, the action is unpay.';
  end if;
  if new.action <> 'pay' and new.paid_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('%s with a timestamp of payment: paid_at is set for commission %s', new.action, new.commission_id),
      hint = 'Only pay takes paid_at. Leave it empty, or make it a pay.';
  end if;
  if new.action = 'due' and new.due_at is null then
    raise exception using errcode = 'check_violation',
      message = format('blank due_at: due needs the timestamp from which commission %s is payable', new.commission_id),
      hint = 'Give it in due_at. A due date can be moved but never removed.';
  end if;
  if new.action <> 'due' and new.due_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('%s with a due date: due_at is set for commission %s', new.action, new.commission_id),
      hint = 'Only due takes due_at. Make it a request of its own.';
  end if;
  if new.even_if_refunded and new.action <> 'pay' then
    raise exception using errcode = 'check_violation',
      message = format('%s with even_if_refunded for commission %s', new.action, new.commission_id),
      hint = 'Only pay takes even_if_refunded: nothing else is held back by a refund. Leave it out.';
  end if;
  if coalesce(new.paid_at, new.due_at) not between '0001-01-01Z' and '9999-12-31 23:59:59.999999Z'
     or new.expected_paid_at not between '0001-01-01Z' and '9999-12-31 23:59:59.999999Z' then
    raise exception using errcode = 'check_violation',
      message = format('a timestamp beyond the years 1 to 9999 for commission %s', new.commission_id),
      hint = 'Give one between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z.';
  end if;
  if new.expected_unpaid and new.expected_paid_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('commission %s is expected to be unpaid and paid at once', new.commission_id),
      hint = 'Give expected_unpaid or expected_paid_at, not both.';
  end if;
  if new.state <> 'pending'
     or num_nonnulls(new.outcome, new.note, new.before, new.after, new.last_error, new.put_sent_at, new.claimed_by,
                     new.claimed_until, new.finished_at) > 0
     or new.attempts <> 0 then
    raise exception using errcode = 'check_violation',
      message = 'a request starts out as pending',
      hint = 'Leave state, outcome and everything after them to the writer.';
  end if;

  if new.idempotency_key is null then
    return new;
  end if;
  -- An index keeps no long texts.
  if length(new.idempotency_key) > 200 then
    raise exception using errcode = 'check_violation',
      message = format('an idempotency_key of %s characters for commission %s', length(new.idempotency_key), new.commission_id),
      hint = 'A key has at most 200 characters. Shorten it, such as to a hash of what it is made of.';
  end if;
  select * into earlier from commission_updates where idempotency_key = new.idempotency_key;
  if not found then
    return new;
  end if;
  if is_same_request(earlier, new) then
    -- The same request under the same key was made before: nothing to do.
    return null;
  end if;
  raise exception using errcode = 'unique_violation', constraint = 'commission_updates_idempotency_key_is_used_once',
    message = format('idempotency_key %s names another request already (number %s: %s of commission %s)',
                     quote_literal(new.idempotency_key), earlier.id, earlier.action, earlier.commission_id),
    hint = 'A key always names the same request. Give this one a key of its own, or none.';
end
$$;

create function announce_commission_updates() returns trigger
language plpgsql
security definer
as $$
begin
  -- A request that is being applied, or whose change may be on its way already, is left to end as it will.
  update commission_updates older
     set state = 'superseded',
         outcome = format('superseded by request %s before anything was sent', newer.id),
         finished_at = clock_timestamp()
    from (
      select commission_id, action = 'due' as is_due, max(id) as id
      from new_rows
      where supersede
      group by commission_id, action = 'due'
    ) newer
   where older.commission_id = newer.commission_id
     and (older.action = 'due') = newer.is_due
     and older.id < newer.id
     and older.state = 'pending'
     and older.put_sent_at is null
     and (older.claimed_until is null or older.claimed_until <= clock_timestamp());
  if exists (select from new_rows) then
    perform pg_notify('affiliate_mirror_commission_updates', tg_table_schema);
  end if;
  return null;
end
$$;

create function refuse_edited_request() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'check_violation',
    message = format('request %s is part of the payment ledger: what was asked for is never edited', old.id),
    hint = 'Cancel it while it is pending (affiliate-mirror commissions cancel), and make a new request.';
end
$$;

create function refuse_deleted_request() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'check_violation',
    message = 'the payment ledger keeps every request: nothing is deleted from it',
    hint = 'Cancel what is pending (affiliate-mirror commissions cancel).';
end
$$;

-- A function with its owner's rights must never use a table that the caller made: temporary ones come last.
do $$
declare
  guarded text;
begin
  foreach guarded in array array['check_commission_update', 'announce_commission_updates'] loop
    execute format('alter function %I() set search_path to %I, pg_temp', guarded, current_schema());
    execute format('revoke execute on function %I() from public', guarded);
  end loop;
end
$$;

create trigger take_turns before insert on commission_updates
  for each statement execute function take_turns_requesting();
create trigger check_request before insert on commission_updates
  for each row execute function check_commission_update();
create trigger announce after insert on commission_updates
  referencing new table as new_rows
  for each statement execute function announce_commission_updates();
create trigger keep_request before update on commission_updates
  for each row
  when ((old.id, old.batch_id, old.commission_id, old.action, old.paid_at, old.due_at, old.expected_unpaid,
         old.expected_paid_at, old.expected_amount, old.expected_currency, old.reason, old.requested_by,
         old.database_user, old.idempotency_key, old.supersede, old.even_if_refunded, old.requested_at)
        is distinct from
        (new.id, new.batch_id, new.commission_id, new.action, new.paid_at, new.due_at, new.expected_unpaid,
         new.expected_paid_at, new.expected_amount, new.expected_currency, new.reason, new.requested_by,
         new.database_user, new.idempotency_key, new.supersede, new.even_if_refunded, new.requested_at))
  execute function refuse_edited_request();
create trigger keep_requests before delete on commission_updates
  for each statement execute function refuse_deleted_request();

create view commission_ledger as
select request.id as request,
       request.batch_id as batch,
       request.commission_id,
       request.action,
       case request.action
         when 'pay' then 'mark paid at ' || to_char(request.paid_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
              || case when request.even_if_refunded then ', even if refunded' else '' end
         when 'unpay' then 'mark unpaid'
         else 'make payable from ' || to_char(request.due_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
       end as asked,
       request.state,
       coalesce(request.outcome, case
         when request.claimed_until > statement_timestamp() then 'being applied now'
         when request.last_error is not null then 'will be tried again: ' || request.last_error
         else 'waits its turn'
       end) as outcome,
       request.note,
       request.reason,
       request.requested_by,
       request.requested_at,
       request.finished_at,
       coalesce((request.after ->> 'amount')::bigint, (request.before ->> 'amount')::bigint, commission.amount) as amount,
       coalesce(request.after ->> 'currency', request.before ->> 'currency', commission.currency) as currency,
       (request.before ->> 'paid_at')::timestamptz as paid_at_before,
       (coalesce(request.after, request.before) ->> 'paid_at')::timestamptz as paid_at_after,
       (request.before ->> 'due_at')::timestamptz as due_at_before,
       (coalesce(request.after, request.before) ->> 'due_at')::timestamptz as due_at_after,
       sale.affiliate_id,
       nullif(btrim(concat_ws(' ', affiliate.first_name, affiliate.last_name)), '') as affiliate_name,
       affiliate.email as affiliate_email,
       (select count(*) from commission_update_attempts attempt
        where attempt.update_id = request.id and attempt.method = 'PUT'
          and (attempt.error is null or attempt.error not like 'not sent: %')) as puts
from commission_updates request
left join commissions commission on commission.id = request.commission_id
left join sales sale on sale.id = commission.sale_id
left join affiliates affiliate on affiliate.id = sale.affiliate_id;

comment on table commission_updates is 'Requests to change commissions in the program, and what became of each: who asked for what, when and why, what was there before, what the program answered. To ask, insert a row (the columns up to even_if_refunded). Nothing in it is ever deleted.';
comment on column commission_updates.id is 'Number of the request. The requests for one commission are applied in this order.';
comment on column commission_updates.batch_id is 'Name of the batch that the request belongs to, chosen by whoever asks; null where it is in no batch.';
comment on column commission_updates.commission_id is 'The commission to change (commissions.id).';
comment on column commission_updates.action is 'pay: mark it paid at paid_at. unpay: mark it unpaid. due: make it payable from due_at.';
comment on column commission_updates.paid_at is 'For pay: the timestamp of the payment, past or future. Empty for everything else.';
comment on column commission_updates.due_at is 'For due: the timestamp from which the commission is payable. Empty for everything else.';
comment on column commission_updates.expected_unpaid is 'True: apply it only if the commission is unpaid in the program at that time; otherwise the request ends as conflict.';
comment on column commission_updates.expected_paid_at is 'Apply it only if the program has the commission as paid at this timestamp (which it may have cut to the second or the millisecond); null expects nothing.';
comment on column commission_updates.expected_amount is 'Apply it only if the commission has this amount, in the unit of commissions.amount; null expects nothing.';
comment on column commission_updates.expected_currency is 'Apply it only if the commission is in this currency; null expects nothing.';
comment on column commission_updates.reason is 'Why it was asked for, in the requester''s words.';
comment on column commission_updates.requested_by is 'Who asked, as named by the requester; the database user where nobody was named.';
comment on column commission_updates.database_user is 'The database user that inserted the request. Cannot be chosen.';
comment on column commission_updates.idempotency_key is 'Names the request: inserting the same request under the same key again does nothing, and another request under it is refused. At most 200 characters. Null: no such protection.';
comment on column commission_updates.supersede is 'True: older requests for the same commission that wait to change the same thing are dropped in favour of this one.';
comment on column commission_updates.even_if_refunded is 'For pay: true pays it even where its sale was refunded in full. False: such a commission ends as conflict, since nothing is owed for it any more.';
comment on column commission_updates.requested_at is 'When the request was inserted.';
comment on column commission_updates.state is 'pending, or how it ended: applied (the program has it as asked), unchanged (it was so already; nothing was sent), conflict (what was expected did not hold, its sale was refunded, or somebody else changed it after a change whose answer was lost; nothing more was sent), not_found (the program has no such commission), rejected (refused, see outcome), failed (tried often enough without success; may be retried), superseded (dropped for a newer request), cancelled.';
comment on column commission_updates.outcome is 'How it ended, in words; null while pending.';
comment on column commission_updates.note is 'What else to know about it, such as that the program cut the time to whole seconds.';
comment on column commission_updates.before is 'What the program had before the request was applied or refused: paid_at, due_at, amount, currency, state, voided_at, updated_at.';
comment on column commission_updates.after is 'What the program answered to the change; where that was lost or did not show it, what it had when the commission was read again.';
comment on column commission_updates.attempts is 'How often it was tried without success while the program was answering others, or its outcome was refused by the database. Outages and 429 do not count.';
comment on column commission_updates.next_attempt_at is 'Not tried before this time.';
comment on column commission_updates.last_error is 'Why the last try did not succeed, or could not be noted; null where none failed.';
comment on column commission_updates.put_sent_at is 'When the writer first set out to send the change; null while nothing can have been sent.';
comment on column commission_updates.claimed_by is 'The writer that works on it. Nothing for analysis.';
comment on column commission_updates.claimed_until is 'Until when that writer has it for itself; the writer extends it while it runs. Nothing for analysis.';
comment on column commission_updates.finished_at is 'When it ended; null while pending.';

comment on table commission_update_attempts is 'Every HTTP request that was sent to the program for a commission update. A change is noted here before it is sent; sent_at gives the order.';
comment on column commission_update_attempts.id is 'Number of the attempt.';
comment on column commission_update_attempts.update_id is 'The request that it was sent for (commission_updates.id).';
comment on column commission_update_attempts.method is 'GET: the commission was read. PUT: it was changed.';
comment on column commission_update_attempts.sent_at is 'When it was sent; for a PUT, when the writer set out to send it.';
comment on column commission_update_attempts.duration_ms is 'Milliseconds until the answer or the failure; null where the writer was stopped before it knew.';
comment on column commission_update_attempts.status is 'HTTP status of the answer; null where none came.';
comment on column commission_update_attempts.error_code is 'Stable code of the error; null where it succeeded, or was repeated at once.';
comment on column commission_update_attempts.error is 'What went wrong, in words.';
comment on column commission_update_attempts.sent is 'The form that was sent with a PUT.';
comment on column commission_update_attempts.received is 'What the program answered: paid_at, due_at, amount, currency, state; null where no commission came.';

comment on view commission_ledger is 'The commission updates for finance: what was asked, by whom and why, how it ended, and the values before and after, with amount and affiliate.';
comment on column commission_ledger.request is 'Number of the request (commission_updates.id).';
comment on column commission_ledger.batch is 'Name of the batch.';
comment on column commission_ledger.commission_id is 'The commission (commissions.id).';
comment on column commission_ledger.action is 'pay: to be marked paid. unpay: to be marked unpaid. due: to be made payable from another time.';
comment on column commission_ledger.asked is 'What was asked for, in words.';
comment on column commission_ledger.state is 'pending, applied, unchanged, conflict, not_found, rejected, failed, superseded or cancelled; see commission_updates.state.';
comment on column commission_ledger.outcome is 'How it ended or how far it is, in words.';
comment on column commission_ledger.note is 'What else to know about it.';
comment on column commission_ledger.reason is 'Why it was asked for.';
comment on column commission_ledger.requested_by is 'Who asked.';
comment on column commission_ledger.requested_at is 'When it was asked.';
comment on column commission_ledger.finished_at is 'When it ended; null while pending.';
comment on column commission_ledger.amount is 'Amount of the commission, as last seen; in the unit of commissions.amount.';
comment on column commission_ledger.currency is 'Currency code of the amount, as the program spells it: upper(currency) makes usd and USD one.';
comment on column commission_ledger.paid_at_before is 'When it was paid according to the program, before the request; null while unpaid.';
comment on column commission_ledger.paid_at_after is 'The same, after the request; as before where nothing was changed, null while unpaid.';
comment on column commission_ledger.due_at_before is 'From when it was payable according to the program, before the request.';
comment on column commission_ledger.due_at_after is 'The same, after the request; as before where nothing was changed.';
comment on column commission_ledger.affiliate_id is 'Affiliate who earns the commission (affiliates.id), where the mirror knows.';
comment on column commission_ledger.affiliate_name is 'Name of the affiliate.';
comment on column commission_ledger.affiliate_email is 'Email address of the affiliate.';
comment on column commission_ledger.puts is 'How often the change was sent.';

comment on function take_turns_requesting() is 'Trigger function: lets the transactions that ask for updates take turns, so that their numbers are the order in which they asked, and has their commit wait for the disk.';
comment on function is_same_request(commission_updates, commission_updates) is 'Whether two requests under one key ask for the same thing, whoever asks and why.';
comment on function overtaken_by(commission_updates) is 'The last request that came later for the same value of the commission, and has its way or waits; null where none did.';
comment on function ask_for_updates(jsonb, text, text, boolean) is 'Asks for updates: an array of objects with the columns of commission_updates, all or none. Answers each row, by its place from 1: new; asked already; waits (asked already, and still pending); overtaken (asked already, and another request came later); key taken (of another request: only a dry run answers so, else all is refused). request is the request that the answer is about; behind is one that waits for the same commission, and is applied before a new one. A dry run asks for nothing.';
comment on function check_commission_update() is 'Trigger function: refuses invalid requests, and drops those that were made before under the same key.';
comment on function announce_commission_updates() is 'Trigger function: drops what new requests supersede, and notifies the workers.';
comment on function refuse_edited_request() is 'Trigger function: what was asked for is never edited.';
comment on function refuse_deleted_request() is 'Trigger function: the payment ledger keeps everything.';
comment on trigger take_turns on commission_updates is 'One inserting transaction at a time, whose commit is on the disk.';
comment on trigger check_request on commission_updates is 'Refuses invalid requests with a message that says how to fix them.';
comment on trigger announce on commission_updates is 'Drops what is superseded; notifies the workers.';
comment on trigger keep_request on commission_updates is 'Keeps what was asked as it was asked.';
comment on trigger keep_requests on commission_updates is 'Keeps every request.';
