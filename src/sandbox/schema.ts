// The sandbox's tables: columns, keys and indexes. Their counts are in counts.ts.
//
// Decision where the contract is silent: deleting an affiliate deletes its links and referrals; deleting a referral
// deletes its sales; deleting a sale deletes its commissions. An affiliate's payouts go with it; a commission whose
// payout is deleted is in none.

import { createHash } from 'node:crypto';
import type { FieldType } from '../contract/declare.ts';
import { COUNTING_FUNCTIONS } from './counts.ts';
import { keptColumns, type Rows } from './rows.ts';
import type { Spelling } from './wire.ts';

/** Every table of the sandbox, in an order in which they can be dropped. */
export const TABLES = [
  'commissions',
  'payouts',
  'sales',
  'referrals',
  'links',
  'affiliates',
  'campaigns',
  'list_days',
  'sandbox_program',
] as const;

/** Returns a digest of the tables' definition; a schema with another digest is refused. */
export function formatOf(spelling: Spelling): string {
  return createHash('md5').update(createTablesSql('s', spelling)).digest('hex');
}

const SQL_TYPES: Readonly<Record<FieldType, string>> = {
  identifier: 'text collate "C" primary key',
  text: 'text',
  timestamp: 'timestamptz(3)',
  integer: 'bigint',
  number: 'numeric',
  boolean: 'boolean',
  json: 'jsonb',
};

/** The tables without indexes and triggers. */
export function createTablesSql(s: string, spelling: Spelling): string {
  const key = (column: string, to: string, more = 'not null', onDelete = 'on delete cascade') =>
    `${column} text collate "C" ${more} references ${s}.${to} ${onDelete}`;
  const create = (table: keyof Rows, ...keys: readonly string[]) =>
    `create table ${s}.${table} (${[...fieldColumns(table, spelling), ...keys].join(', ')});`;
  return [
    `create table ${s}.sandbox_program (
       only_row boolean primary key default true check (only_row),
       format text not null,
       spelling text not null,
       seed bigint not null,
       affiliates integer not null,
       referrals integer not null,
       steps bigint not null default 0,
       processing_ms bigint default 2000
     );`,
    `create table ${s}.list_days (
       list text not null,
       day date not null,
       state text not null,
       records bigint not null,
       primary key (list, day, state)
     );`,
    create('campaigns'),
    create('affiliates', key('campaign_id', 'campaigns', 'not null', ''), UNIQUE_PERSON),
    create(
      'links',
      'created_at timestamptz(3) not null',
      key('affiliate_id', 'affiliates'),
      'unique (token)',
    ),
    create('referrals', key('affiliate_id', 'affiliates'), key('link_id', 'links', '', 'on delete set null')),
    create('sales', key('referral_id', 'referrals'), key('affiliate_id', 'affiliates')),
    create('payouts', key('affiliate_id', 'affiliates'), 'processing_until timestamptz(3)'),
    create(
      'commissions',
      key('sale_id', 'sales'),
      key('affiliate_id', 'affiliates'),
      key('campaign_id', 'campaigns', 'not null', ''),
      'payout_id text collate "C"',
    ),
  ].join('\n');
}

const UNIQUE_PERSON = 'unique (email), unique (processor_customer_id)';

/** In the contract's spelling, a field may be null only if the contract says so or does not show it. */
function fieldColumns(table: keyof Rows, spelling: Spelling): string[] {
  return keptColumns(table).map(({ column, field: { type, presence }, isCounted }) => {
    const isNeverNull = presence === 'always' || (presence === 'null accepted' && spelling === 'neutral');
    return `${column} ${SQL_TYPES[type]} ${isNeverNull ? 'not null' : ''} ${isCounted ? 'default 0' : ''}`;
  });
}

/** Run after the seed, which would otherwise update the indexes row by row, and inserts the payouts last. */
export function createIndexesSql(s: string): string {
  return `
create index on ${s}.affiliates (created_at desc, id desc);
create index on ${s}.affiliates (campaign_id, created_at desc, id desc);
create index on ${s}.links (affiliate_id);
create index on ${s}.referrals (created_at desc, id desc);
create index on ${s}.referrals (affiliate_id, created_at desc, id desc);
create index on ${s}.referrals (conversion_state, created_at desc, id desc);
create index on ${s}.referrals (customer_email) where customer_email is not null;
create index on ${s}.referrals (processor_customer_id) where processor_customer_id is not null;
create index on ${s}.referrals (link_id) where link_id is not null;
create index on ${s}.sales (referral_id);
create index on ${s}.sales (affiliate_id);
create index on ${s}.commissions (sale_id);
create index on ${s}.commissions (created_at desc, id desc);
create index on ${s}.commissions (affiliate_id, created_at desc, id desc);
create index on ${s}.commissions (state, created_at desc, id desc);
alter table ${s}.commissions add foreign key (payout_id) references ${s}.payouts on delete set null;
create index on ${s}.commissions (payout_id) where payout_id is not null;
create index on ${s}.payouts (created_at desc, id desc);
create index on ${s}.payouts (affiliate_id, created_at desc, id desc);
create index on ${s}.payouts (state, created_at desc, id desc);
create index on ${s}.payouts (processing_until) where processing_until is not null;
`;
}

/** Returns the statements that remove the tables and everything that counts.ts adds to them, and nothing else. */
export function dropTablesSql(s: string): string {
  const tables = TABLES.map((table) => `drop table if exists ${s}.${table};`);
  const functions = COUNTING_FUNCTIONS.map((name) => `drop function if exists ${s}.${name}();`);
  return [...tables, ...functions].join('\n');
}
