-- Why: what the workers are to do is kept here, in the database that must not be lost; the queue only carries keys of
-- these rows, and is rebuilt from them when it forgets (a Redis that comes back empty, a job whose end was not stored).
-- Lock taken: none on anything that exists (new tables only). Breaking: no.

create table wanted_jobs (
  key        text primary key,
  name       text not null,
  payload    jsonb not null,
  generation bigint not null default 1,
  wanted_at  timestamptz not null default clock_timestamp()
);

comment on table wanted_jobs is 'The work that the workers have yet to finish: one row per piece of work, deleted when it is done. Nothing for analysis.';
comment on column wanted_jobs.key is 'What the work is about; the same work is wanted once.';
comment on column wanted_jobs.name is 'Which job of the catalogue does it.';
comment on column wanted_jobs.payload is 'What the job is to do, as JSON; its shape depends on name.';
comment on column wanted_jobs.generation is 'Counts up when the work is wanted again while it is being done: then it is done once more.';
comment on column wanted_jobs.wanted_at is 'Since when it is wanted.';

create table schedules (
  name         text primary key,
  next_at      timestamptz not null,
  last_tick_at timestamptz
);

comment on table schedules is 'The schedules of the workers: when each is due next, and which tick was the last to be acted upon. Nothing for analysis.';
comment on column schedules.name is 'The schedule''s name in the catalogue of jobs.';
comment on column schedules.next_at is 'The next tick. Past and not acted upon: it was missed, and is made up for once.';
comment on column schedules.last_tick_at is 'The last tick that was acted upon: each is acted upon once, whoever sees it first.';

create table worker_state (
  only_row      boolean primary key default true check (only_row),
  queue_id      uuid not null default gen_random_uuid(),
  refused_at    timestamptz,
  probed_at     timestamptz,
  next_probe_at timestamptz,
  probes        integer not null default 0
);

insert into worker_state default values;

comment on table worker_state is 'What all workers of this mirror share. One row. Nothing for analysis.';
comment on column worker_state.only_row is 'Always true: keeps the table at one row.';
comment on column worker_state.queue_id is 'Tells this mirror''s queue in Redis from that of every other mirror.';
comment on column worker_state.refused_at is 'Since when the program refuses the API secret (401) and the queue is paused. Null where it is not.';
comment on column worker_state.probed_at is 'When the secret was last tried.';
comment on column worker_state.next_probe_at is 'When a worker tries the secret again.';
comment on column worker_state.probes is 'How often it was tried in vain: the pauses between grow.';
