-- Why: one request budget for every process that talks to the program, kept where all of them already meet.
-- Lock taken: none on anything that exists (new tables only). Breaking: no.

create table request_budget (
  only_row            boolean primary key default true check (only_row),
  limit_requests      integer,
  window_seconds      numeric,
  paused_until        timestamptz,
  last_throttled_at   timestamptz,
  foreign_requests    integer not null default 0,
  foreign_until       timestamptz,
  writer_waits_until  timestamptz
);

insert into request_budget default values;

comment on table request_budget is 'What is known of the account''s request limit, shared by every process. One row.';
comment on column request_budget.only_row is 'Always true: keeps the table at one row.';
comment on column request_budget.limit_requests is 'The limit that the program''s answers name, where it is lower than the configured one; null otherwise.';
comment on column request_budget.window_seconds is 'Length of the window that the budget is kept over, in seconds; null while no limit is configured.';
comment on column request_budget.paused_until is 'Nobody sends a request before this moment: the program said so (429).';
comment on column request_budget.last_throttled_at is 'When the program last answered 429.';
comment on column request_budget.foreign_requests is 'Requests of the account that somebody else must have made, by what the program says remains.';
comment on column request_budget.foreign_until is 'Until when those count.';
comment on column request_budget.writer_waits_until is 'A payment waits for a slot until about this moment: readers step back to their floor.';

create table request_slots (
  id          bigint generated always as identity primary key,
  lane        text not null check (lane in ('reader', 'writer')),
  granted_at  timestamptz not null,
  released_at timestamptz,
  expires_at  timestamptz not null
);

comment on table request_slots is 'The requests that still count against the account''s limit: those in flight and those of the last window.';
comment on column request_slots.id is 'Number of the slot.';
comment on column request_slots.lane is 'writer: a commission update. reader: everything else.';
comment on column request_slots.granted_at is 'When the request was allowed to be sent.';
comment on column request_slots.released_at is 'When its answer came; the slot counts for one window from then on. Null while in flight.';
comment on column request_slots.expires_at is 'When the slot is free again: a window after the answer; or, in flight, after the longest time that a request may take.';
