-- Why: what all workers of a mirror share, whichever server keeps their queue; and an index for the question that they
-- ask most, which resources were synced since a moment.
-- Lock taken: sync_runs against writes, for as long as its index takes to be made. Breaking: no.

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

create index sync_runs_ended on sync_runs (finished_at);

comment on table worker_state is 'What all workers of this mirror share. One row. Nothing for analysis.';
comment on column worker_state.only_row is 'Always true: keeps the table at one row.';
comment on column worker_state.queue_id is 'Tells this mirror''s queue in Redis from that of every other mirror, together with the database that this row is in: a copy of the mirror has a queue of its own.';
comment on column worker_state.made_at is 'When this mirror was made: no tick of a schedule before that counts as missed.';
comment on column worker_state.refused_at is 'Since when no job asks the program: it refuses the secret, serves another account than the mirror''s, or is away. Null if jobs ask it.';
comment on column worker_state.refused_code is 'Code of the error for which no job asks the program, such as API_UNAUTHORIZED, PROGRAM_CHANGED or API_UNREACHABLE. Null if jobs ask it.';
comment on column worker_state.probed_at is 'When the program was last tried with a single request.';
comment on column worker_state.next_probe_at is 'When a worker tries the program again. Null if jobs ask it.';
comment on column worker_state.probes is 'How often it was tried in vain: the pauses between grow.';
