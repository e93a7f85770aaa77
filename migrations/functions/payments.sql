-- The functions that ask for payments, and the rules of the tables of 0004_payments.sql for every writer.
--
-- The trigger functions run with their owner's rights where that is needed, so that asking needs nothing but INSERT on a
-- few columns. Such a function must never use a table that the caller made: in every search path that is set here,
-- temporary tables come last.

create or replace function request_turn() returns bigint
language sql stable
set search_path from current
as $$
  select hashtextextended('affiliate-mirror commission updates of ' || current_schema(), 0)
$$;
comment on function request_turn() is 'The number of the advisory lock by which the transactions that ask for updates take turns.';

create or replace function take_turns_requesting() returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
  -- Off, the commit is answered before it is on the disk: a crash of Postgres would undo what was accepted.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform pg_advisory_xact_lock(request_turn());
  return null;
end
$$;
comment on function take_turns_requesting() is 'Trigger function: lets the transactions that ask for updates take turns, so that their numbers are the order in which they asked, and has their commit wait for the disk.';
revoke execute on function take_turns_requesting() from public;

-- The one rule of what is the same: the trigger follows it, and ask_for_updates answers by it.
create or replace function is_same_request(earlier commission_updates, asked commission_updates) returns boolean
language sql
immutable
as $$
  select (earlier.commission_id, earlier.payout_id, earlier.action, earlier.paid_at, earlier.due_at,
          earlier.expected_unpaid, earlier.expected_paid_at, earlier.expected_amount, earlier.expected_currency,
          earlier.expected_commissions, earlier.supersede, earlier.even_if_refunded)
         is not distinct from
         (asked.commission_id, asked.payout_id, asked.action, asked.paid_at, asked.due_at,
          asked.expected_unpaid, asked.expected_paid_at, asked.expected_amount, asked.expected_currency,
          asked.expected_commissions, asked.supersede, asked.even_if_refunded)
$$;
comment on function is_same_request(commission_updates, commission_updates) is 'Whether two requests with one key ask for the same, without regard to requester and reason.';

-- The last request that came later for the same value of the commission or payout and has its way, or may have it.
create or replace function overtaken_by(earlier commission_updates) returns bigint
language sql
stable
set search_path from current
as $$
  select max(later.id) from commission_updates later
  where coalesce(later.commission_id, later.payout_id) = coalesce(earlier.commission_id, earlier.payout_id)
    and later.id > earlier.id
    and (later.action = 'due') = (earlier.action = 'due')
    and later.state in ('pending', 'applied', 'unchanged')
$$;
comment on function overtaken_by(commission_updates) is 'The last request that came later for the same value of the commission or payout, and has its way or waits; null if none did.';

-- As the writer judges a commission that it has read (describeRefund); a payout shows neither sales nor states.
create or replace function not_owed(commission text) returns text
language sql
stable
set search_path from current
as $$
  select case when asked.voided_at is not null or asked.state = 'voided' then 'is voided'
              else 'is of a sale that was refunded in full' end
  from commissions asked
  left join sales sale on sale.id = asked.sale_id
  where asked.id = commission
    and (asked.voided_at is not null or asked.state = 'voided'
         or coalesce(sale.charge_amount_cents > 0, true)
            and (sale.refund_amount_cents >= sale.charge_amount_cents or sale.sale_amount_cents = 0))
$$;
comment on function not_owed(text) is 'Why nothing is owed for the commission, by the mirror: it is voided, or its sale was refunded in full; null if neither.';

-- Runs with its owner's rights: the payment ledger says what a request waits for to roles that may not read payouts.
create or replace function payout_under_way(commission text) returns text
language sql
stable
security definer
set search_path from current
as $$
  select coalesce(
    (select payout.id from commissions listed
     join payouts payout on payout.id = listed.payout_id
     where listed.id = commission and payout.state = 'processing' and payout._deleted_at is null),
    -- By the index of commission_ids alone: it has the default collation, and that of all pending requests (which
    -- `offset 0` keeps out) is long while a batch waits. Measured with 10,000: 0.15 ms, most of it planning, instead of 2.
    (select request.payout_id
     from (
       select * from commission_updates where commission_ids @> array[commission collate "default"] offset 0
     ) request
     where request.state = 'pending' and request.put_sent_at is not null
     limit 1))
$$;
comment on function payout_under_way(text) is 'The payout that is paying this commission, or may be; null if none is. A request to pay or unpay the commission waits for it.';

-- Answers each row, and asks for those that are new; a dry run only answers. A row is a JSON object with the columns of
-- a request (commission_id to even_if_refunded), and may have two fields more: unless_waiting (true: a row without a key
-- is answered by a request that waits for the same) and same_as (the number of a request that does the same, as the
-- caller found). The function takes its turn first, and so sees every request of an earlier transaction. The trigger
-- stays the rule: it refuses a key that is taken, and with it all rows.
create or replace function ask_for_updates(
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
        'payout_id', lower(btrim(one ->> 'payout_id', blank)),
        'expected_currency', upper(nullif(btrim(one ->> 'expected_currency', blank), '') collate "C"),
        'idempotency_key', nullif(btrim(one ->> 'idempotency_key', blank), '')
      ) order by nr), '[]')
    from jsonb_array_elements(asked) with ordinality as input (one, nr)
  );

  if is_dry_run then
    return query
    with input as materialized (
      select nr, one, jsonb_populate_record(null::commission_updates, one) as wanted,
             coalesce(one ->> 'commission_id', one ->> 'payout_id') as subject
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
          and coalesce(twin.commission_id, twin.payout_id) = subject and twin.state in ('pending', 'applied', 'unchanged')
          and left(twin.idempotency_key, 4) = 'row:' and length(twin.idempotency_key) = 44
          and is_same_request(twin, jsonb_populate_record(
            wanted, jsonb_build_object('even_if_refunded', not (wanted).even_if_refunded)))
        union all
        -- A second one would find the commission changed by the first, and end as conflict.
        select 5, false, same
        from commission_updates same
        where (wanted).idempotency_key is null and (one ->> 'unless_waiting')::boolean
          and coalesce(same.commission_id, same.payout_id) = subject and same.state = 'pending'
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
        and coalesce(older.commission_id, older.payout_id) = subject and older.state = 'pending'
        and (older.action = 'due') = ((wanted).action = 'due')
    ) waiting on true
    order by nr;
    return;
  end if;

  perform pg_advisory_xact_lock(request_turn());
  return query
  with answered as materialized (
    select place, answer, request, overtaken_by, behind,
           jsonb_populate_record(null::commission_updates, one) as wanted
    from ask_for_updates(asked, is_dry_run => true)
    join jsonb_array_elements(asked) with ordinality as input (one, place) using (place)
  ), inserted as (
    insert into commission_updates (
      batch_id, commission_id, payout_id, action, paid_at, due_at, expected_unpaid, expected_paid_at, expected_amount,
      expected_currency, expected_commissions, reason, requested_by, idempotency_key, supersede, even_if_refunded
    )
    select batch, (wanted).commission_id, (wanted).payout_id, (wanted).action, (wanted).paid_at, (wanted).due_at,
           (wanted).expected_unpaid, (wanted).expected_paid_at, (wanted).expected_amount, (wanted).expected_currency,
           (wanted).expected_commissions, (wanted).reason, coalesce(requester, current_user),
           (wanted).idempotency_key, (wanted).supersede, (wanted).even_if_refunded
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
comment on function ask_for_updates(jsonb, text, text, boolean) is 'Asks for updates: an array of objects with the columns of commission_updates, all or none. Answers each row, by its place from 1: new; asked already; waits (asked already, and still pending); overtaken (asked already, and another request came later); key taken (of another request: only a dry run answers so, else all is refused). request is the request that the answer is about; behind is one that waits for the same commission or payout, and is applied before a new one. A dry run asks for nothing.';

create or replace function check_commission_update() returns trigger
language plpgsql
security definer
set search_path from current
as $$
declare
  blank constant text := E' \t\r\n';
  earlier commission_updates;
  subject text;
begin
  new.commission_id := nullif(lower(btrim(new.commission_id, blank)), '');
  new.payout_id := nullif(lower(btrim(new.payout_id, blank)), '');
  new.expected_currency := upper(nullif(btrim(new.expected_currency, blank), '') collate "C");
  new.idempotency_key := nullif(btrim(new.idempotency_key, blank), '');
  new.batch_id := nullif(btrim(new.batch_id, blank), '');
  new.requested_by := coalesce(nullif(btrim(new.requested_by, blank), ''), session_user);
  new.database_user := session_user;
  new.requested_at := clock_timestamp();

  if new.commission_id is not null and new.payout_id is not null then
    raise exception using errcode = 'check_violation',
      message = format('a request for commission %s and for payout %s at once', new.commission_id, new.payout_id),
      hint = 'Make two requests of it.';
  end if;
  if coalesce(new.commission_id, new.payout_id) is null
     or coalesce(new.commission_id, new.payout_id)
        !~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
    raise exception using errcode = 'check_violation',
      message = case when new.payout_id is null
        then format('commission_id %s is not the identifier of a commission',
                    coalesce(quote_literal(new.commission_id), 'null'))
        else format('payout_id %L is not the identifier of a payout', new.payout_id) end,
      hint = 'It is a UUID such as 0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11.';
  end if;
  subject := coalesce('commission ' || new.commission_id, 'payout ' || new.payout_id);
  if new.action is null or new.action not in ('pay', 'unpay', 'due') then
    raise exception using errcode = 'check_violation',
      message = format('unknown action %s for %s', coalesce(quote_literal(new.action), 'null'), subject),
      hint = 'The actions are pay (with paid_at), unpay (alone) and due (with due_at); of a payout pay alone.';
  end if;
  if new.payout_id is not null
     and (new.action <> 'pay' or new.expected_unpaid
          or num_nonnulls(new.paid_at, new.due_at, new.expected_paid_at) > 0) then
    raise exception using errcode = 'check_violation',
      message = format('%s is to be paid, and nothing else can be asked of it', subject),
      hint = 'Give the action pay, and no timestamp: the API dates the payment. What may be expected of a payout is expected_amount, expected_currency and expected_commissions.';
  end if;
  if new.commission_id is not null and new.expected_commissions is not null then
    raise exception using errcode = 'check_violation',
      message = format('expected_commissions is set for %s', subject),
      hint = 'Only a payout has commissions. Leave it empty.';
  end if;
  if new.action = 'pay' and new.paid_at is null and new.payout_id is null then
    raise exception using errcode = 'check_violation',
      message = format('pay without a timestamp: paid_at is empty for %s', subject),
      hint = 'Give the timestamp of the payment in paid_at. To take a payment back, the action is unpay.';
  end if;
  if new.action <> 'pay' and new.paid_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('%s with a timestamp of payment: paid_at is set for %s', new.action, subject),
      hint = 'Only pay takes paid_at. Leave it empty, or make it a pay.';
  end if;
  if new.action = 'due' and new.due_at is null then
    raise exception using errcode = 'check_violation',
      message = format('blank due_at: due needs the timestamp from which commission %s is payable', new.commission_id),
      hint = 'Give it in due_at. A due date can be moved but never removed.';
  end if;
  if new.action <> 'due' and new.due_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('%s with a due date: due_at is set for %s', new.action, subject),
      hint = 'Only due takes due_at. Make it a request of its own.';
  end if;
  if new.even_if_refunded and new.action <> 'pay' then
    raise exception using errcode = 'check_violation',
      message = format('%s with even_if_refunded for %s', new.action, subject),
      hint = 'Only pay takes even_if_refunded: nothing else is held back by a refund. Leave it out.';
  end if;
  if coalesce(new.paid_at, new.due_at) not between '0001-01-01Z' and '9999-12-31 23:59:59.999999Z'
     or new.expected_paid_at not between '0001-01-01Z' and '9999-12-31 23:59:59.999999Z' then
    raise exception using errcode = 'check_violation',
      message = format('a timestamp beyond the years 1 to 9999 for %s', subject),
      hint = 'Give one between 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z.';
  end if;
  if new.expected_unpaid and new.expected_paid_at is not null then
    raise exception using errcode = 'check_violation',
      message = format('commission %s is expected to be unpaid and paid at once', new.commission_id),
      hint = 'Give expected_unpaid or expected_paid_at, not both.';
  end if;
  if new.state <> 'pending'
     or num_nonnulls(new.outcome, new.note, new.before, new.after, new.last_error, new.put_sent_at, new.commission_ids,
                     new.claimed_by, new.claimed_until, new.finished_at) > 0
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
      message = format('an idempotency_key of %s characters for %s', length(new.idempotency_key), subject),
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
    message = format('idempotency_key %s names another request already (number %s: %s of %s)',
                     quote_literal(new.idempotency_key), earlier.id, earlier.action,
                     coalesce('commission ' || earlier.commission_id, 'payout ' || earlier.payout_id)),
    hint = 'A key always names the same request. Give this one a key of its own, or none.';
end
$$;
comment on function check_commission_update() is 'Trigger function: refuses invalid requests, and drops those that were made before under the same key.';
revoke execute on function check_commission_update() from public;

create or replace function announce_commission_updates() returns trigger
language plpgsql
security definer
set search_path from current
as $$
begin
  -- A request that is being applied, or whose change may be on its way already, is left to end as it will.
  update commission_updates older
     set state = 'superseded',
         outcome = format('superseded by request %s before anything was sent', newer.id),
         finished_at = clock_timestamp()
    from (
      select coalesce(commission_id, payout_id) as subject, action = 'due' as is_due, max(id) as id
      from new_rows
      where supersede
      group by coalesce(commission_id, payout_id), action = 'due'
    ) newer
   where coalesce(older.commission_id, older.payout_id) = newer.subject
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
comment on function announce_commission_updates() is 'Trigger function: drops what new requests supersede, and notifies the workers.';
revoke execute on function announce_commission_updates() from public;

create or replace function refuse_edited_request() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'check_violation',
    message = format('request %s is part of the payment ledger: what was asked for is never edited', old.id),
    hint = format('Cancel it while it is pending (affiliate-mirror %s cancel), and make a new request.',
                  case when old.payout_id is null then 'commissions' else 'payouts' end);
end
$$;
comment on function refuse_edited_request() is 'Trigger function: what was asked for is never edited.';

create or replace function refuse_deleted_request() returns trigger
language plpgsql
as $$
begin
  raise exception using errcode = 'check_violation',
    message = 'the payment ledger keeps every request: nothing is deleted from it',
    hint = 'Cancel what is pending (affiliate-mirror commissions cancel).';
end
$$;
comment on function refuse_deleted_request() is 'Trigger function: the payment ledger keeps everything.';

create or replace function lower_commission_id() returns trigger
language plpgsql
as $$
begin
  new.commission_id := lower(new.commission_id);
  return new;
end
$$;
comment on function lower_commission_id() is 'Writes an identifier as the mirror has all of them: in lower case.';

create or replace trigger take_turns before insert on commission_updates
  for each statement execute function take_turns_requesting();
comment on trigger take_turns on commission_updates is 'One inserting transaction at a time, whose commit is on the disk.';

create or replace trigger check_request before insert on commission_updates
  for each row execute function check_commission_update();
comment on trigger check_request on commission_updates is 'Refuses invalid requests with a message that says how to fix them.';

create or replace trigger announce after insert on commission_updates
  referencing new table as new_rows
  for each statement execute function announce_commission_updates();
comment on trigger announce on commission_updates is 'Drops what is superseded; notifies the workers.';

create or replace trigger keep_request before update on commission_updates
  for each row
  when ((old.id, old.batch_id, old.commission_id, old.payout_id, old.action, old.paid_at, old.due_at,
         old.expected_unpaid, old.expected_paid_at, old.expected_amount, old.expected_currency,
         old.expected_commissions, old.reason, old.requested_by, old.database_user, old.idempotency_key,
         old.supersede, old.even_if_refunded, old.requested_at)
        is distinct from
        (new.id, new.batch_id, new.commission_id, new.payout_id, new.action, new.paid_at, new.due_at,
         new.expected_unpaid, new.expected_paid_at, new.expected_amount, new.expected_currency,
         new.expected_commissions, new.reason, new.requested_by, new.database_user, new.idempotency_key,
         new.supersede, new.even_if_refunded, new.requested_at))
  execute function refuse_edited_request();
comment on trigger keep_request on commission_updates is 'Keeps what was asked as it was asked.';

create or replace trigger keep_requests before delete on commission_updates
  for each statement execute function refuse_deleted_request();
comment on trigger keep_requests on commission_updates is 'Keeps every request.';

create or replace trigger lower_commission_id before insert on tracked_commissions
  for each row execute function lower_commission_id();
comment on trigger lower_commission_id on tracked_commissions is 'Writes the identifier in lower case.';
