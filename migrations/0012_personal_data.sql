-- Why: what is stored of people is decided once for the whole mirror (PII), and a person can be forgotten for good.
-- Lock taken: none on anything that exists (new tables only). Breaking: no.
--
-- Decisions
-- * How personal data are kept is a fact of the database, not of a process: every load compares what it brings with
--   this row under the lock of loads, so a process that is set otherwise can write nothing, also one that was running
--   while the data were rewritten.
-- * Who was forgotten is kept without saying who: identifiers of records, and hashes of addresses and of customers'
--   identifiers by which a person was forgotten. The salt is here, so whoever
--   reads these tables and guesses an address can test the guess; hence they are nothing for analysts. In mode hash
--   the address is hashed with the key first, and cannot be guessed without that.

create table personal_data (
  only_row        boolean primary key default true check (only_row),
  mode            text not null default 'plain' check (mode in ('plain', 'hash', 'omit')),
  key_fingerprint text,
  salt            text not null
                  default encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex'),
  version         bigint not null default 0,
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
  table_name text not null,
  record_id  text collate "C" not null,
  number     bigint not null references forgotten_people (number),
  primary key (table_name, record_id)
);

create table forgotten_addresses (
  address_hash text primary key,
  number       bigint not null references forgotten_people (number)
);

create function kept_personal_data() returns text
language sql stable
set search_path from current
as $$
  select concat_ws(':', mode, coalesce(key_fingerprint, '-'), version, (select count(*) from forgotten_records))
  from personal_data
$$;

-- In plpgsql, since each statement of such a function sees what was committed while the one before it waited.
create function lock_for_storing(is_alone boolean) returns text
language plpgsql
set search_path from current
as $$
begin
  perform lock_for_loading(is_alone);
  return kept_personal_data();
end
$$;

-- Sorted: of two loads that note the same at once, one waits for the other, and not both.
create function note_recognised(tables text[], ids text[], address_hashes text[], affiliate_ids text[]) returns void
language sql
set search_path from current
as $$
  insert into forgotten_records (table_name, record_id, number)
  select distinct on (table_name, record_id) table_name, record_id, number
  from unnest(tables, ids, address_hashes) as recognised (table_name, record_id, address_hash)
  join forgotten_addresses using (address_hash)
  order by table_name, record_id, number
  on conflict do nothing;

  -- Of the affiliates, too, that were noted just now.
  insert into forgotten_records (table_name, record_id, number)
  select distinct on (recognised.record_id) 'links', recognised.record_id, owner.number
  from unnest(ids, affiliate_ids) as recognised (record_id, affiliate_id)
  join forgotten_records owner
    on owner.table_name = 'affiliates' and owner.record_id = recognised.affiliate_id
  order by recognised.record_id, owner.number
  on conflict do nothing
$$;

create function count_forgotten(tables text[], ids text[]) returns integer
language sql stable
set search_path from current
as $$
  select count(*)::integer from forgotten_records
  where (table_name, record_id) in (
    select table_name, record_id from unnest(tables, ids) as recognised (table_name, record_id)
  )
$$;

comment on function count_forgotten(text[], text[]) is 'Returns how many of these records are noted as those of forgotten people. The arrays are one of each for each record.';
comment on function note_recognised(text[], text[], text[], text[]) is 'Notes records that were recognised by a forgotten address, and links by their affiliate: they are the person''s from then on. The arrays are one of each for each record; of the last two, one is null.';

comment on table personal_data is 'How personal data are kept in this mirror (one row). Nothing for analysis.';
comment on column personal_data.only_row is 'Always true: there is one row.';
comment on column personal_data.mode is 'plain: as the program sends them. hash: as keyed hashes. omit: not at all.';
comment on column personal_data.key_fingerprint is 'Fingerprint of the key of the hashes, by which another key is noticed; null in the other modes.';
comment on column personal_data.salt is 'Random text that goes into the hashes of forgotten addresses.';
comment on column personal_data.version is 'Counts up whenever somebody is forgotten: what was read before is not stored any more.';
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
comment on column forgotten_addresses.address_hash is 'Salted hash of the address or the identifier, or of its keyed hash where there was a key.';
comment on column forgotten_addresses.number is 'The person (forgotten_people.number).';
comment on function kept_personal_data() is 'Returns how personal data are kept: mode, fingerprint of the key, how often somebody was forgotten, and how many records of forgotten people are known. Whoever stores what it read, or is about to read, compares itself with it.';
comment on function lock_for_storing(boolean) is 'Waits for the right to load (see lock_for_loading), and returns how personal data are kept from then on.';
