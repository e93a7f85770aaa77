-- Why: what is stored of people is decided once for the whole mirror (PII), and a person can be forgotten for good.
--
-- * How personal data are kept is a fact of the database, not of a process: every load compares itself with this row
--   under the lock of loads. So a process that is set otherwise stores nothing, also one that was running while the
--   mirror was switched.
-- * Who was forgotten is kept without saying who: identifiers of records, and salted hashes of what leads to a person,
--   made from the value as the mirror has it. A reader of these tables who guesses an address can test the guess;
--   hence they are nothing for analysts. In mode hash the value is a keyed hash: without the key it cannot be guessed.

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

comment on table personal_data is 'How personal data are kept in this mirror (one row). Nothing for analysis.';
comment on column personal_data.only_row is 'Always true: there is one row.';
comment on column personal_data.mode is 'plain: as the API sends them. hash: as keyed hashes. omit: not at all.';
comment on column personal_data.key_fingerprint is 'Fingerprint of the key of the hashes, by which another key is noticed; null in the other modes.';
comment on column personal_data.salt is 'Random text that goes into the hashes of forgotten addresses.';
comment on column personal_data.changed_at is 'When the mode last changed.';

create table forgotten_people (
  number       bigint generated always as identity primary key,
  forgotten_at timestamptz not null default clock_timestamp(),
  forgotten_by text not null
);

comment on table forgotten_people is 'People who were forgotten, by number. Nothing for analysis.';
comment on column forgotten_people.number is 'Number of the person, as on the receipt.';
comment on column forgotten_people.forgotten_at is 'When the person was forgotten first.';
comment on column forgotten_people.forgotten_by is 'Who ran the command: the name of the operating system''s user.';

create table forgotten_records (
  table_name text collate "C" not null,
  record_id  text collate "C" not null,
  number     bigint not null references forgotten_people (number),
  primary key (table_name, record_id)
);

comment on table forgotten_records is 'Records of forgotten people: what the API still sends of them is stored without personal data. Nothing for analysis.';
comment on column forgotten_records.table_name is 'affiliates, referrals or links.';
comment on column forgotten_records.record_id is 'Identifier of the record.';
comment on column forgotten_records.number is 'The person (forgotten_people.number).';

create table forgotten_addresses (
  address_hash text collate "C" primary key,
  number       bigint not null references forgotten_people (number)
);

comment on table forgotten_addresses is 'E-mail addresses of forgotten people, and identifiers of customers by which they were forgotten, as salted hashes. Nothing for analysis.';
comment on column forgotten_addresses.address_hash is 'Salted hash of the address or the identifier as the mirror has it: in mode hash, of the address''s keyed hash.';
comment on column forgotten_addresses.number is 'The person (forgotten_people.number).';
