-- Why: the program need not list its commissions, so the mirror keeps its own list of those to mirror, and asks for each
-- of them again from time to time.
-- Lock taken: none on anything that exists (new table only). Breaking: no.

create table tracked_commissions (
  commission_id  text primary key,
  tracked_by     text not null default current_user,
  tracked_at     timestamptz not null default clock_timestamp(),
  next_poll_at   timestamptz default clock_timestamp(),
  last_polled_at timestamptz,
  last_error     text
);

create index tracked_commissions_next on tracked_commissions (next_poll_at) where next_poll_at is not null;

create function lower_commission_id() returns trigger
language plpgsql
as $$
begin
  new.commission_id := lower(new.commission_id);
  return new;
end
$$;

create trigger lower_commission_id before insert on tracked_commissions
  for each row execute function lower_commission_id();

comment on function lower_commission_id() is 'Writes an identifier as the mirror has all of them: in lower case.';
comment on trigger lower_commission_id on tracked_commissions is 'Writes the identifier in lower case.';

comment on table tracked_commissions is 'The commissions that the mirror keeps asking the program for, where it does not list them (optional_lists). To have one mirrored, insert its identifier.';
comment on column tracked_commissions.commission_id is 'The commission (commissions.id).';
comment on column tracked_commissions.tracked_by is 'Who wanted it.';
comment on column tracked_commissions.tracked_at is 'Since when it is asked for.';
comment on column tracked_commissions.next_poll_at is 'When the program is asked for it again; null where it is gone, and not asked for until it is tracked or changed anew.';
comment on column tracked_commissions.last_polled_at is 'When the program last answered for it.';
comment on column tracked_commissions.last_error is 'Why the last request was not answered, or its answer not mirrored; null where it was.';
