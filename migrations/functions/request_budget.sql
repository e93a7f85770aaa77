-- Permits under the account's request limit.
--
-- A permit is granted, and returned, by one call of a function: the row lock by which processes take turns lasts for
-- one statement and never for a round trip. A process that is stopped at any moment makes no other one wait.

create or replace function take_permit(
  asked_priority text,
  most_requests integer,
  hold_seconds double precision,
  reads_floor double precision,
  out permit_id bigint,
  out granted_at timestamptz,
  out wait_ms integer,
  out wait_for text
)
language plpgsql
set search_path from current
as $$
declare
  moment timestamptz;
  budget request_budget;
  most integer;
  used integer;
  reads integer;
  -- When the next request leaves the window. Those in flight have no known end.
  next_free timestamptz;
begin
  if asked_priority = 'reads' then
    -- A read asks once a second for as long as a window is used up. Without the lock, that writes nothing and waits for
    -- no other process. What it does not see yet would only make it wait longer.
    moment := clock_timestamp();
    select count(*), min(expires_at) filter (where returned_at is not null)
      into used, next_free
      from request_permits where expires_at > moment;
    if used >= most_requests and not exists (select from request_budget where paused_until > moment) then
      wait_for := 'window';
      wait_ms := greatest(1, least(1000, ceil(extract(epoch from next_free - moment) * 1000)));
      return;
    end if;
  end if;

  -- The row lock makes the processes take turns.
  select * into strict budget from request_budget for update;
  moment := clock_timestamp();
  if budget.paused_until > moment then
    wait_for := 'pause';
    wait_ms := ceil(extract(epoch from budget.paused_until - moment) * 1000);
    return;
  end if;

  -- Those of the last minute are kept: an answer on its way may still count their requests (see learn_limits).
  delete from request_permits where expires_at <= moment - interval '1 minute';
  select count(*), count(*) filter (where priority = 'reads'), min(expires_at) filter (where returned_at is not null)
    into used, reads, next_free
    from request_permits where expires_at > moment;
  most := least(most_requests, case when budget.limit_until > moment then budget.limit_requests end);
  if budget.foreign_until > moment and budget.foreign_requests > 0 then
    used := used + budget.foreign_requests;
    next_free := least(next_free, budget.foreign_until);
  end if;

  if used >= most then
    wait_for := 'window';
  elsif asked_priority = 'reads' and budget.payments_wait_until > moment
        and reads >= greatest(1, floor(most * reads_floor)) then
    wait_for := 'payments';
  elsif budget.asks_alone and exists (
    select from request_permits permit
    where permit.returned_at is null and permit.granted_at >= budget.paused_until
      -- An expired permit has no holder any more: its process was killed.
      and permit.expires_at > moment
  ) then
    wait_for := 'answer';
  else
    insert into request_permits (priority, granted_at, expires_at)
    values (asked_priority, moment, moment + make_interval(secs => hold_seconds))
    returning id, request_permits.granted_at into permit_id, granted_at;
    return;
  end if;

  if asked_priority = 'payments' then
    update request_budget set payments_wait_until = moment + interval '1 second';
  end if;
  -- A process that asks late loses time, if others returned permits unused; one that asks often costs all the others.
  wait_ms := greatest(1, least(
    case when wait_for = 'window' and asked_priority = 'reads' then 1000 else 250 end,
    ceil(extract(epoch from next_free - moment) * 1000)
  ));
end
$$;
comment on function take_permit(text, integer, double precision, double precision) is 'Grants a permit to send one request (permit_id, granted_at), or says how long to wait before asking again, and for what: pause (the API asked for one), window (the limit is used up), payments (they go first), answer (after a pause one request asks alone).';

create or replace function learn_limits(
  own_permit_id bigint,
  most_requests integer,
  throttled boolean,
  named_limit integer,
  remaining integer,
  reset_seconds double precision,
  default_seconds double precision
) returns void
language plpgsql
set search_path from current
as $$
declare
  moment timestamptz;
  budget request_budget;
  -- What headers teach ends here.
  reset_at timestamptz;
  most integer;
  sent_at timestamptz;
  used integer;
  -- Requests that the answer may not have counted yet: in flight, or sent after its own.
  uncounted integer;
  missing integer;
begin
  select * into strict budget from request_budget for update;
  moment := clock_timestamp();
  reset_at := moment + make_interval(secs => coalesce(reset_seconds, default_seconds));
  select granted_at into sent_at from request_permits where id = own_permit_id;
  if throttled or named_limit = 0 then
    update request_budget
       set paused_until = greatest(paused_until, reset_at), asks_alone = true,
           last_throttled_at = case when throttled then moment else last_throttled_at end;
  elsif budget.asks_alone and sent_at >= budget.paused_until then
    update request_budget set asks_alone = false;
  end if;
  if most_requests is null or named_limit is null or named_limit = 0 then
    return;
  end if;

  most := least(most_requests, named_limit);
  if named_limit < most_requests then
    -- At least a window: where it slides, the reset only says when the next request leaves it.
    update request_budget
       set limit_requests = named_limit,
           limit_until = greatest(reset_at, moment + make_interval(secs => default_seconds));
  elsif budget.limit_until > moment then
    update request_budget set limit_until = moment;
  end if;
  if throttled or remaining is null or reset_seconds is null or sent_at is null
     -- Its process was stopped meanwhile: what the answer says is long past.
     or sent_at < moment - interval '1 minute' then
    return;
  end if;

  -- Fewer remain than we would send: others use the account, and their requests are left to them. A quota that
  -- is larger or longer than ours leaves more than we would send, and teaches nothing. The figure is known only to
  -- within what the answer did not count, so the figure before it stays where it fits. The answer may have been
  -- given at any moment since its request was sent, so all of ours that counted since then are distinguished from theirs.
  select count(*),
         count(*) filter (where id <> own_permit_id and (returned_at is null or granted_at > sent_at))
    into used, uncounted
    from request_permits where expires_at > sent_at;
  missing := most - used - remaining;
  if missing > 0 and remaining = 0 then
    update request_budget set paused_until = greatest(paused_until, reset_at), asks_alone = true;
  end if;
  if budget.foreign_until is null or budget.foreign_until <= moment then
    budget.foreign_requests := 0;
  end if;
  update request_budget
     set foreign_requests = greatest(0, least(greatest(budget.foreign_requests, missing), missing + uncounted)),
         foreign_until = reset_at
   where greatest(budget.foreign_requests, missing) > 0;
end
$$;
comment on function learn_limits(bigint, integer, boolean, integer, integer, double precision, double precision) is 'Notes what the headers of an answer say of the account''s limit. most_requests: the configured limit, null if none is kept. default_seconds: how long a pause lasts whose end the answer does not name, and a lower limit at least.';

create or replace function return_permit(
  returned_id bigint,
  window_seconds double precision,
  most_requests integer,
  throttled boolean,
  named_limit integer,
  remaining integer,
  reset_seconds double precision,
  default_seconds double precision
) returns timestamptz
language plpgsql
set search_path from current
as $$
declare
  moment timestamptz;
begin
  if throttled is not null then
    -- In the order in which take_permit locks, or the two could wait for each other.
    perform from request_budget for update;
  end if;
  moment := clock_timestamp();
  -- A request that was given up may still be on its way: the program may count it for as long as it could have taken.
  update request_permits
     set returned_at = moment,
         expires_at = greatest(moment + make_interval(secs => window_seconds),
                               case when throttled is null then expires_at end)
   where id = returned_id;
  if throttled is not null then
    perform learn_limits(returned_id, most_requests, throttled, named_limit, remaining, reset_seconds, default_seconds);
  end if;
  return moment;
end
$$;
comment on function return_permit(bigint, double precision, integer, boolean, integer, integer, double precision, double precision) is 'Returns a permit whose request was answered or given up, notes what the answer''s headers say (throttled is null if there was no answer), and returns the moment.';
