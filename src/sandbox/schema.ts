// The sandbox's tables: columns, keys and indexes. counts.ts keeps what is counted in them.
//
// Decision where the contract is silent: deleting an affiliate deletes its links and referrals; deleting a referral
// deletes its sales; deleting a sale deletes its commissions.

import { COUNTING_FUNCTIONS } from './counts.ts';

/** Changes whenever the tables do; a schema that holds another format is refused. */
export const FORMAT = 3;

/** Every table of the sandbox, in an order in which they can be dropped. */
export const TABLES = [
  'commissions',
  'sales',
  'referrals',
  'links',
  'affiliates',
  'campaigns',
  'list_days',
  'sandbox_program',
] as const;

/** Returns the statements that create the tables without indexes and triggers, for a schema that has none. */
export function createTablesSql(s: string): string {
  return `
create table ${s}.sandbox_program (
  only_row boolean primary key default true check (only_row),
  format integer not null,
  seed bigint not null,
  affiliates integer not null,
  referrals integer not null,
  steps bigint not null default 0
);
create table ${s}.list_days (
  list text not null,
  day date not null,
  state text not null,
  records bigint not null,
  primary key (list, day, state)
);
create table ${s}.campaigns (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  name text not null,
  commission_percent integer not null,
  days_until_due integer not null
);
create table ${s}.affiliates (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  campaign_id text collate "C" not null references ${s}.campaigns,
  first_name text not null,
  last_name text not null,
  email text not null unique,
  payout_email text not null,
  confirmed_at timestamptz(3),
  payout_email_confirmed_at timestamptz(3),
  receive_new_commission_notifications boolean not null,
  sign_in_count integer not null,
  unconfirmed_email text,
  processor_customer_id text unique,
  processor_account_id text,
  state text not null,
  visitors bigint not null default 0,
  leads bigint not null default 0,
  conversions bigint not null default 0
);
create table ${s}.links (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  affiliate_id text collate "C" not null references ${s}.affiliates on delete cascade,
  url text not null,
  token text not null unique,
  visitors bigint not null default 0,
  leads bigint not null default 0,
  conversions bigint not null default 0
);
create table ${s}.referrals (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  affiliate_id text collate "C" not null references ${s}.affiliates on delete cascade,
  link_id text collate "C" references ${s}.links on delete set null,
  processor_account_id text not null,
  processor_customer_id text,
  conversion_state text not null,
  deactivated_at timestamptz(3),
  expires_at timestamptz(3),
  customer_name text,
  customer_email text,
  visits integer not null,
  became_lead_at timestamptz(3),
  became_conversion_at timestamptz(3)
);
create table ${s}.sales (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  referral_id text collate "C" not null references ${s}.referrals on delete cascade,
  affiliate_id text collate "C" not null references ${s}.affiliates on delete cascade,
  currency text not null,
  charged_at timestamptz(3) not null,
  processor_account_id text not null,
  processor_charge_id text not null,
  invoiced_at timestamptz(3),
  charge_amount_cents bigint not null,
  refund_amount_cents bigint not null,
  tax_amount_cents bigint not null,
  sale_amount_cents bigint not null
);
create table ${s}.commissions (
  id text collate "C" primary key,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  sale_id text collate "C" not null references ${s}.sales on delete cascade,
  affiliate_id text collate "C" not null references ${s}.affiliates on delete cascade,
  campaign_id text collate "C" not null references ${s}.campaigns,
  amount bigint not null,
  currency text not null,
  due_at timestamptz(3) not null,
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  state text not null
);
`;
}

/** Returns the statements that create the indexes: after the seed, which would have to keep them up row by row. */
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
`;
}

/** Returns the statements that remove the tables and everything that counts.ts adds to them, and nothing else. */
export function dropTablesSql(s: string): string {
  const tables = TABLES.map((table) => `drop table if exists ${s}.${table};`);
  const functions = COUNTING_FUNCTIONS.map((name) => `drop function if exists ${s}.${name}();`);
  return [...tables, ...functions].join('\n');
}
