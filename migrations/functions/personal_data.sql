-- The locks of loads, and what keeps forgotten people out.
--
-- * Triggers on the mirrored tables keep forgotten people out: they see every writer, also a load whose pages were read
--   before the person was forgotten. The first `forget` makes them (keep_out_forgotten): they cost nothing before.
-- * Updates are decided row by row, before the row is written: the history sees what is left of it. Only rows whose
--   personal columns change are looked at. Insertions, which the history keeps without their content, are decided
--   statement by statement: row by row, a look-up took as long as the insertion of its row, and a first sync doubled.

-- In plpgsql, since each statement of such a function sees what was committed while the one before it waited.
create or replace function lock_for_loading() returns text
language plpgsql
set search_path from current
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('affiliate-mirror load of ' || current_schema(), 0));
  return (select concat_ws(':', mode, coalesce(key_fingerprint, '-')) from personal_data);
end
$$;
comment on function lock_for_loading() is 'Waits for the right to load, which lasts until the transaction ends. Returns how the mirror keeps personal data, as mode and fingerprint of the key: a load compares it with its own settings.';

-- As canonicalAddress in src/contract/mail-address.ts compares addresses, but for the two spellings of an international
-- domain: forget notes both. What is ASCII alone needs neither of the two slow steps.
create or replace function salted_hash(salt text, value text) returns text
language sql stable parallel safe
as $$
  select encode(sha256(convert_to(salt || case
      when octet_length(value) = length(value) then lower(btrim(value, E' \t\n\v\f\r') collate "C")
      else lower(btrim(normalize(value, nfc), E' \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'))
    end, 'UTF8')), 'hex')
$$;
comment on function salted_hash(text, text) is 'The stored part of an address or an identifier of a customer that leads to a forgotten person.';

-- The hashes come first: in the query, the planner would make them anew for each row of the table.
create or replace function find_forgotten(of_table text, of_id text, variadic identities text[] default '{}') returns bigint
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
comment on function find_forgotten(text, text, text[]) is 'Returns the number of the forgotten person whose record this is, or who is known by one of the addresses or identifiers of customers; null if there is none.';

create or replace function has_forgotten_people() returns boolean
language sql stable
set search_path from current
as $$
  select exists (select from forgotten_people)
$$;
comment on function has_forgotten_people() is 'Whether a person was forgotten: then the triggers of keep_out_forgotten must be there.';

create or replace function names_forgotten(words text) returns boolean
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
comment on function names_forgotten(text) is 'Returns whether an e-mail address in the text, or an identifier, is a forgotten person''s.';

create or replace function without_names(coupon jsonb) returns jsonb
language sql immutable
as $$
  select case when jsonb_typeof(coupon) <> 'object' then coupon else (
    select coalesce(jsonb_object_agg(key, case when key in ('token', 'external_id') then 'null' else value end), '{}')
    from jsonb_each(coupon)
    where key in ('id', 'token', 'external_id', 'archived', 'archived_at', 'affiliate_id')) end
$$;
comment on function without_names(jsonb) is 'Returns a coupon without its names and without fields that the contract does not know.';

create or replace function only_figures(totals jsonb) returns jsonb
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
comment on function only_figures(jsonb) is 'Returns the totals of an affiliate with their numbers, flags and currency codes alone.';

create or replace function without_person(fields jsonb, columns text[]) returns jsonb
language sql immutable
set search_path from current
as $$
  select fields || coalesce(jsonb_object_agg(key, case key
      when 'coupon' then without_names(value)
      when 'commission_stats' then only_figures(value)
      else 'null' end), '{}')
  from jsonb_each(fields) where key = any (columns)
$$;
comment on function without_person(jsonb, text[]) is 'Returns the fields of a line of the history, with the columns as they are kept of a forgotten person.';

create or replace function is_same_content(before jsonb, after jsonb) returns boolean
language sql immutable
as $$
  select before - own = after - own
  from (values (array['_first_seen_at', '_changed_at', '_observed_at'])) as mirrors (own)
$$;
comment on function is_same_content(jsonb, jsonb) is 'Whether two versions of a mirrored row hold the same content of the API.';

create or replace function is_rewriting() returns boolean
language sql stable
as $$
  select coalesce(current_setting('affiliate_mirror.keeps_history', true) = 'off', false)
$$;
comment on function is_rewriting() is 'Whether rows are being emptied, of which no history is kept (affiliate_mirror.keeps_history is off).';

-- A row that is emptied differs from what the API sends, so each sync would write it again: an update that changes
-- nothing is left out.
create or replace function written(before record, after record) returns record
language plpgsql
set search_path from current
as $$
begin
  if is_same_content(to_jsonb(before), to_jsonb(after)) then
    return null;
  end if;
  if is_rewriting() then
    after._changed_at := stamp_changes();
  end if;
  return after;
end
$$;
comment on function written(record, record) is 'Returns the row that a trigger lets an update write: null if it has the content that is there, stamped if rows are being emptied.';

create or replace function keep_out_affiliate() returns trigger
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
    -- An address for payouts may be a company's: it is emptied, and leads to no other record.
    if find_forgotten('', '', new.payout_email) is not null then
      new.payout_email := null;
    end if;
    if find_forgotten('', '', new.wise_email) is not null then
      new.wise_email := null;
    end if;
  end if;
  return written(old, new);
end
$$;
comment on function keep_out_affiliate() is 'Trigger function: empties what is personal of a forgotten affiliate, and notes one that is recognised.';

create or replace function keep_out_link() returns trigger
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
  return written(old, new);
end
$$;
comment on function keep_out_link() is 'Trigger function: empties the links of a forgotten affiliate.';

create or replace function keep_out_referral() returns trigger
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
  return written(old, new);
end
$$;
comment on function keep_out_referral() is 'Trigger function: empties what is personal of a forgotten customer, and the coupons of a forgotten affiliate.';

create or replace function keep_out_extra() returns trigger
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
comment on function keep_out_extra() is 'Trigger function: leaves out unknown fields that name a forgotten person.';

create or replace function keep_out_rejected() returns trigger
language plpgsql
set search_path from current
as $$
begin
  if names_forgotten(concat_ws(' ', new.record_id, new.payload::text)) then
    -- The hash keeps records without an identifier apart, also if they differ in capitals alone.
    new.payload := (
      select json_build_object(
        'id', new.record_id,
        'left_out', encode(sha256(convert_to(salt || new.payload::text, 'UTF8')), 'hex'))
      from personal_data);
  end if;
  return new;
end
$$;
comment on function keep_out_rejected() is 'Trigger function: leaves out a rejected record that names a forgotten person.';

create or replace function keep_out_refusal() returns trigger
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
comment on function keep_out_refusal() is 'Trigger function: leaves out the API''s reason for the refusal of a payment if it names a forgotten person.';

-- Finds the rows of a statement that may be a forgotten person's, and writes them once more without their history: the
-- triggers of updates empty them. Its arguments are the columns of addresses and identifiers, and a condition. As an
-- array, because the planner may read the whole table for a join.
create or replace function keep_out_inserted() returns trigger
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
comment on function keep_out_inserted() is 'Trigger function: does the same for the rows that a statement inserted.';

create or replace function keep_out_forgotten() returns void
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
      ('commissions', '', 'false'),
      ('payouts', '', 'false')) as mirrored (name, identities, condition)
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
comment on function keep_out_forgotten() is 'Makes the triggers that keep forgotten people out, if they are not there yet. Called by each forget.';
