-- Why: a delta sync finds what changed by comparing each affiliate's counters with those of the last time that all of
-- its referrals were known to be mirrored. They cannot be compared with the affiliates table: every nested view of
-- an affiliate refreshes that, whether its referrals were read or not. And once another process has taken a run over,
-- the former one must not write to it.
-- Lock taken: access exclusive on sync_runs, for a moment (new column with a constant default). Breaking: no.

create table covered_counters (
  affiliate_id text not null,
  run_id       bigint not null,
  visitors     bigint not null,
  leads        bigint not null,
  conversions  bigint not null,
  primary key (affiliate_id, run_id)
);

comment on table covered_counters is 'The counters that each affiliate had before a run of referrals that then covered all of its referrals. Counts only if that run was verified. What a delta sync compares with; nothing for analysis.';
comment on column covered_counters.affiliate_id is 'The affiliate.';
comment on column covered_counters.run_id is 'The run of referrals (sync_runs.id).';
comment on column covered_counters.visitors is 'The affiliate''s visitors when the run began.';
comment on column covered_counters.leads is 'The affiliate''s leads when the run began.';
comment on column covered_counters.conversions is 'The affiliate''s conversions when the run began.';

alter table sync_runs add column attempt integer not null default 1;

comment on column sync_runs.attempt is 'How often the run was started: more than 1 where it was stopped or killed, and resumed.';
