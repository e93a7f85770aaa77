-- Why: what is stored of people is decided once for the whole mirror (PII), and a person can be forgotten for good.
-- Lock taken: none on anything that exists (new tables only). Breaking: no.
--
-- Decisions
-- * How personal data are kept is a fact of the database, not of a process: every load compares itself with this row
--   under the lock of loads. So a process that is set otherwise stores nothing, also one that was running while the
--   mirror was switched.
-- * Forgotten people are kept out by triggers on the mirrored tables: they see every writer, also a load that was read
--   before the person was forgotten. The first `forget` makes them (keep_out_forgotten), so nobody pays for them
--   before.
-- * Updates are decided row by row, before the row is written: the history sees what is left of it. Only rows whose
--   personal columns change are looked at. Insertions, which the history keeps without their content, are decided
--   statement by statement: row by row, a look-up took as long as the insertion of its row, and a first sync doubled.
-- * Who was forgotten is kept without saying who: identifiers of records, and salted hashes of what leads to a person,
--   made from the value as the mirror has it. Whoever reads these tables and guesses an address can test the guess;
--   hence they are nothing for analysts. In mode hash the value is a keyed hash: without the key nobody guesses it.

create table personal_data (
  only_row        boolean primary key default true check (only_row),
  mode            text not null default 'plain' check (mode in ('plain', 'hash', 'omit')),
  key_fingerprint text,
  salt            text not null
                  default encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex'),
  changed_at      timestamptz not null default clock_timestamp(),
  constraint personal_data_hash_has_a_key check ((mode = 'hash') = (key_fingerprint is not null))
);

insert into personal_data default values;

create table forgotten_people (
  number       bigint generated always as identity primary key,
  forgotten_at timestamptz not null default clock_timestamp(),
  forgotten_by text not null
);

create table forgotten_records (
  table_name text collate "C" not null,
  record_id  text collate "C" not null,
  number     bigint not null references forgotten_people (number),
  primary key (table_name, record_id)
);

create table forgotten_addresses (
  address_hash text collate "C" primary key,
  number       bigint not null references forgotten_people (number)
);

-- In plpgsql, since each statement of such a function sees what was committed while the one before it waited.
create function lock_for_storing(is_alone boolean) returns text
language plpgsql
set search_path from current
as $$
begin
  perform lock_for_loading(is_alone);
  return (select concat_ws(':', mode, coalesce(key_fingerprint, '-')) from personal_data);
end
$$;

-- As canonicalAddress in src/contract/mail-address.ts compares addresses, but for the two spellings of an international
-- domain: forget notes both. What is ASCII alone needs neither of the two slow steps.
create function salted_hash(salt text, value text) returns text
language sql stable parallel safe
as $$
  select encode(sha256(convert_to(salt || case
      when octet_length(value) = length(value) then lower(btrim(value, E' \t\n\v\f\r') collate "C")
      else lower(btrim(normalize(value, nfc), E' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'))
    end, 'UTF8')), 'hex')
$$;

-- The hashes come first: in the query, the planner would make them anew for each row of the table.
create function find_forgotten(of_table text, of_id text, variadic identities text[] default '{}') returns bigint
language plpgsql stable
set search_path from current
as $$
declare
  hashes constant text[] := array(select salted_hash(salt, identity) from personal_data, unnest(identities) identity);
begin
  return (
    select number from forgotten_records where table_name = of_table and record_id = of_id
    union all
    select number from forgotten_addresses where address_hash = any (hashes)
    limit 1);
end
$$;

create function is_anybody_forgotten() returns boolean
language sql stable
set search_path from current
as $$
  select exists (select from forgotten_people)
$$;

create function names_forgotten(words text) returns boolean
language plpgsql stable
set search_path from current
as $$
begin
  if position('@' in words) = 0 and words !~* '-[0-9a-f]{4}-[0-9a-f]{4}-' then
    return false;
  end if;
  -- What JSON escapes is no part of an address, and neither is what a web address has around one.
  return exists (
      select from regexp_matches(
        regexp_replace(words, '\\([bfnrt]|u00[0-3][0-9a-f])', ' ', 'gi'),
        '[^][\s"''<>(){},;:\\/?&=#|!*%]+@[^][\s"''<>(){},;:\\/?&=#|!*%]+', 'g') as address
      where find_forgotten('', '', rtrim(address[1], '.')) is not null)
    or exists (
      select from regexp_matches(lower(words), '[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}', 'g') as mention
      join forgotten_records on table_name in ('affiliates', 'referrals', 'links') and record_id = mention[1]);
end
$$;

create function without_names(coupon jsonb) returns jsonb
language sql immutable
as $$
  select case when jsonb_typeof(coupon) <> 'object' then coupon else (
    select coalesce(jsonb_object_agg(key, case when key in ('token', 'external_id') then 'null' else value end), '{}')
    from jsonb_each(coupon)
    where key in ('id', 'token', 'external_id', 'archived', 'archived_at', 'affiliate_id')) end
$$;

create function only_figures(totals jsonb) returns jsonb
language plpgsql immutable
set search_path from current
as $$
begin
  return case jsonb_typeof(totals)
    when 'object' then (
      select coalesce(jsonb_object_agg(key, only_figures(value)), '{}')
      from jsonb_each(totals) where key ~ '^[A-Za-z_]{1,40}$')
    when 'array' then (
      select coalesce(jsonb_agg(only_figures(value) order by place), '[]')
      from jsonb_array_elements(totals) with ordinality as element (value, place))
    when 'string' then case when totals #>> '{}' ~ '^[A-Za-z]{3}$' then totals else 'null' end
    else totals
  end;
end
$$;

create function without_person(fields jsonb, columns text[]) returns jsonb
language sql immutable
set search_path from current
as $$
  select fields || coalesce(jsonb_object_agg(key, case key
      when 'coupon' then without_names(value)
      when 'commission_stats' then only_figures(value)
      else 'null' end), '{}')
  from jsonb_each(fields) where key = any (columns)
$$;

create function is_same_content(before jsonb, after jsonb) returns boolean
language sql immutable
as $$
  select before - own = after - own
  from (values (array['_first_seen_at', '_changed_at', '_observed_at'])) as mirrors (own)
$$;

create function is_rewriting() returns boolean
language sql stable
as $$
  select coalesce(current_setting('affiliate_mirror.keeps_history', true) = 'off', false)
$$;

-- A row that is emptied differs from what the API sends, so each sync would write it again: an update that changes
-- nothing is left out (return null).
create function keep_out_affiliate() returns trigger
language plpgsql
set search_path from current
as $$
declare
  rewrites constant boolean := is_rewriting();
  person constant bigint :=
    find_forgotten('affiliates', new.id, new.email, new.unconfirmed_email, new.processor_customer_id);
begin
  if person is not null then
    insert into forgotten_records (table_name, record_id, number) values ('affiliates', new.id, person)
    on conflict do nothing;
    if found then
      perform set_config('affiliate_mirror.keeps_history', 'off', true);
      update links set id = id where affiliate_id = new.id;
      perform set_config('affiliate_mirror.keeps_history', case when rewrites then 'off' else '' end, true);
    end if;
    new.first_name := null;
    new.last_name := null;
    new.email := null;
    new.payout_email := null;
    new.unconfirmed_email := null;
    new.processor_customer_id := null;
    new.processor_account_id := null;
    new.wise_email := null;
    new.commission_stats := only_figures(new.commission_stats);
    new._extra := null;
  else
    -- An address for payouts may be a company's: it is emptied, and leads to nobody.
    if find_forgotten('', '', new.payout_email) is not null then
      new.payout_email := null;
    end if;
    if find_forgotten('', '', new.wise_email) is not null then
      new.wise_email := null;
    end if;
  end if;
  if is_same_content(to_jsonb(old), to_jsonb(new)) then
    return null;
  end if;
  if is_rewriting() then
    new._changed_at := stamp_changes();
  end if;
  return new;
end
$$;

create function keep_out_link() returns trigger
language plpgsql
set search_path from current
as $$
declare
  person constant bigint := coalesce(find_forgotten('links', new.id), find_forgotten('affiliates', new.affiliate_id));
begin
  if person is not null then
    insert into forgotten_records (table_name, record_id, number) values ('links', new.id, person)
    on conflict do nothing;
    new.url := null;
    new.token := null;
    new._extra := null;
  elsif new.affiliate_id is null then
    -- Nothing says whose link it is: it may be a forgotten person's.
    new.url := case when not is_rewriting() then old.url end;
    new.token := case when not is_rewriting() then old.token end;
  end if;
  if is_same_content(to_jsonb(old), to_jsonb(new)) then
    return null;
  end if;
  if is_rewriting() then
    new._changed_at := stamp_changes();
  end if;
  return new;
end
$$;

create function keep_out_referral() returns trigger
language plpgsql
set search_path from current
as $$
declare
  person constant bigint :=
    find_forgotten('referrals', new.id, new.customer_email, new.processor_customer_id, new.customer_id);
begin
  if person is not null then
    insert into forgotten_records (table_name, record_id, number) values ('referrals', new.id, person)
    on conflict do nothing;
    new.processor_customer_id := null;
    new.customer_id := null;
    new.customer_name := null;
    new.customer_email := null;
    new.coupon := without_names(new.coupon);
    new._extra := null;
  elsif new.coupon is not null and coalesce(find_forgotten('affiliates', new.affiliate_id),
                                            find_forgotten('affiliates', lower(new.coupon ->> 'affiliate_id'))) is not null then
    new.coupon := without_names(new.coupon);
  elsif coalesce(new.affiliate_id, new.coupon ->> 'affiliate_id') is null then
    -- As of a link without its affiliate.
    new.coupon := case when not is_rewriting() then old.coupon end;
  end if;
  if is_same_content(to_jsonb(old), to_jsonb(new)) then
    return null;
  end if;
  if is_rewriting() then
    new._changed_at := stamp_changes();
  end if;
  return new;
end
$$;

create function keep_out_extra() returns trigger
language plpgsql
set search_path from current
as $$
begin
  if names_forgotten(new._extra::text) then
    new._extra := null;
    new._changed_at := case
      when is_same_content(to_jsonb(old), to_jsonb(new)) then old._changed_at
      when is_rewriting() then stamp_changes()
      else new._changed_at
    end;
  end if;
  return new;
end
$$;

create function keep_out_rejected() returns trigger
language plpgsql
set search_path from current
as $$
begin
  if names_forgotten(concat_ws(' ', new.record_id, new.payload::text)) then
    -- The hash keeps records without an identifier apart.
    new.payload := (
      select json_build_object('id', new.record_id, 'left_out', salted_hash(salt, new.payload::text)) from personal_data);
  end if;
  return new;
end
$$;

create function keep_out_refusal() returns trigger
language plpgsql
set search_path from current
as $$
begin
  if names_forgotten(new.outcome) then
    new.outcome := 'the API refused it, with a reason that names a forgotten person';
  end if;
  return new;
end
$$;

-- Finds the rows of a statement that may be a forgotten person's, and writes them once more without their history: the
-- triggers of updates empty them. Its arguments are the columns of addresses and identifiers, and a condition. As an
-- array, because the planner may read the whole table for a join.
create function keep_out_inserted() returns trigger
language plpgsql
set search_path from current
set jit to off
as $$
begin
  if not exists (select from new_rows) then
    return null;
  end if;
  perform set_config('affiliate_mirror.keeps_history', 'off', true);
  execute format($touch$
    update %1$I set id = id where id = any (array(
      select id from new_rows join forgotten_records on table_name = %1$L and record_id = id
      union all
      select id from (
        select id, salted_hash((select salt from personal_data), identity) as address_hash
        from (select id, unnest(array[%2$s]::text[]) as identity from new_rows) as named
        where identity is not null
        offset 0
      ) as hashed join forgotten_addresses using (address_hash)
      union all
      select id from new_rows where %3$s or _extra is not null and names_forgotten(_extra::text)))
    $touch$, tg_table_name, tg_argv[0], tg_argv[1]);
  perform set_config('affiliate_mirror.keeps_history', '', true);
  return null;
end
$$;

create function keep_out_forgotten() returns void
language plpgsql
set search_path from current
as $make$
declare
  watched record;
begin
  if exists (select from pg_trigger where tgrelid = 'affiliates'::regclass and tgname = 'forgotten_inserted') then
    return;
  end if;
  for watched in
    select * from (values
      ('affiliates', 'email, unconfirmed_email, processor_customer_id, payout_email, wise_email', 'false'),
      ('links', '', $$affiliate_id is null or exists (
        select from forgotten_records where table_name = 'affiliates' and record_id = affiliate_id)$$),
      ('referrals', 'customer_email, processor_customer_id, nullif(customer_id, processor_customer_id)', $$coupon is not null and (
        coalesce(affiliate_id, coupon ->> 'affiliate_id') is null or exists (
          select from forgotten_records
          where table_name = 'affiliates' and record_id in (affiliate_id, lower(coupon ->> 'affiliate_id'))))$$),
      ('campaigns', '', 'false'),
      ('sales', '', 'false'),
      ('commissions', '', 'false')) as mirrored (name, identities, condition)
  loop
    execute format(
      'create trigger forgotten_inserted after insert on %I referencing new table as new_rows
       for each statement execute function keep_out_inserted(%L, %L)',
      watched.name, watched.identities, watched.condition);
    execute format(
      'create trigger forgotten_in_extra before update on %I
       for each row when (new._extra is not null) execute function keep_out_extra()', watched.name);
  end loop;
  create trigger forgotten_people before update on affiliates for each row
    when (new._changed_at = old._changed_at or
          (new.first_name, new.last_name, new.email, new.payout_email, new.unconfirmed_email, new.processor_customer_id,
           new.processor_account_id, new.wise_email, new.commission_stats, new._extra) is distinct from
          (old.first_name, old.last_name, old.email, old.payout_email, old.unconfirmed_email, old.processor_customer_id,
           old.processor_account_id, old.wise_email, old.commission_stats, old._extra))
    execute function keep_out_affiliate();
  create trigger forgotten_people before update on links for each row
    when (new._changed_at = old._changed_at or (new.affiliate_id, new.url, new.token, new._extra) is distinct from
                                               (old.affiliate_id, old.url, old.token, old._extra))
    execute function keep_out_link();
  create trigger forgotten_people before update on referrals for each row
    when (new._changed_at = old._changed_at or
          (new.affiliate_id, new.processor_customer_id, new.customer_id, new.customer_name, new.customer_email, new.coupon,
           new._extra) is distinct from
          (old.affiliate_id, old.processor_customer_id, old.customer_id, old.customer_name, old.customer_email, old.coupon,
           old._extra))
    execute function keep_out_referral();
  create trigger forgotten_people before insert or update on rejected_records for each row
    execute function keep_out_rejected();
  create trigger forgotten_people before update on commission_updates for each row
    when (new.state in ('rejected', 'failed') and new.outcome is distinct from old.outcome)
    execute function keep_out_refusal();
end
$make$;

comment on function lock_for_storing(boolean) is 'Waits for the right to load (see lock_for_loading), and returns how personal data are kept: mode and fingerprint of the key. Whoever stores what it read compares itself with it.';
comment on function salted_hash(text, text) is 'What is kept of an address or an identifier of a customer that leads to a forgotten person.';
comment on function find_forgotten(text, text, text[]) is 'Returns the number of the forgotten person whose record this is, or who is known by one of the addresses or identifiers of customers; null where it is nobody''s.';
comment on function is_anybody_forgotten() is 'Whether a person was forgotten: then the triggers of keep_out_forgotten must be there.';
comment on function names_forgotten(text) is 'Returns whether an e-mail address in the text, or an identifier, is a forgotten person''s.';
comment on function without_names(jsonb) is 'Returns a coupon without its names and without fields that the contract does not know.';
comment on function only_figures(jsonb) is 'Returns the totals of an affiliate with their numbers, flags and currency codes alone.';
comment on function without_person(jsonb, text[]) is 'Returns the fields of a line of the history, with the columns as they are kept of a forgotten person.';
comment on function is_same_content(jsonb, jsonb) is 'Whether two versions of a mirrored row hold the same of the program.';
comment on function is_rewriting() is 'Whether rows are being emptied, of which no history is kept (affiliate_mirror.keeps_history is off).';
comment on function keep_out_affiliate() is 'Trigger function: empties what is personal of a forgotten affiliate, and notes one that is recognised.';
comment on function keep_out_link() is 'Trigger function: empties the links of a forgotten affiliate.';
comment on function keep_out_referral() is 'Trigger function: empties what is personal of a forgotten customer, and the coupons of a forgotten affiliate.';
comment on function keep_out_extra() is 'Trigger function: leaves out unknown fields that name a forgotten person.';
comment on function keep_out_rejected() is 'Trigger function: leaves out a rejected record that names a forgotten person.';
comment on function keep_out_refusal() is 'Trigger function: leaves out the API''s reason for the refusal of a payment where it names a forgotten person.';
comment on function keep_out_inserted() is 'Trigger function: does the same for the rows that a statement inserted.';
comment on function keep_out_forgotten() is 'Makes the triggers that keep forgotten people out, where they are not there yet. Called by each forget.';

comment on table personal_data is 'How personal data are kept in this mirror (one row). Nothing for analysis.';
comment on column personal_data.only_row is 'Always true: there is one row.';
comment on column personal_data.mode is 'plain: as the program sends them. hash: as keyed hashes. omit: not at all.';
comment on column personal_data.key_fingerprint is 'Fingerprint of the key of the hashes, by which another key is noticed; null in the other modes.';
comment on column personal_data.salt is 'Random text that goes into the hashes of forgotten addresses.';
comment on column personal_data.changed_at is 'When the mode last changed.';
comment on table forgotten_people is 'People who were forgotten, by number. Nothing for analysis.';
comment on column forgotten_people.number is 'Number of the person, as on the receipt.';
comment on column forgotten_people.forgotten_at is 'When the person was forgotten first.';
comment on column forgotten_people.forgotten_by is 'Who ran the command: the name of the operating system''s user.';
comment on table forgotten_records is 'Records of forgotten people: what the program still sends of them is stored without personal data. Nothing for analysis.';
comment on column forgotten_records.table_name is 'affiliates, referrals or links.';
comment on column forgotten_records.record_id is 'Identifier of the record.';
comment on column forgotten_records.number is 'The person (forgotten_people.number).';
comment on table forgotten_addresses is 'E-mail addresses of forgotten people, and identifiers of customers by which they were forgotten, as salted hashes. Nothing for analysis.';
comment on column forgotten_addresses.address_hash is 'Salted hash of the address or the identifier as the mirror has it: in mode hash, of the address''s keyed hash.';
comment on column forgotten_addresses.number is 'The person (forgotten_people.number).';
