// The sandbox's tables: columns, keys, indexes and the triggers that keep counters right.
//
// Decisions where the contract is silent:
// - An affiliate's and a link's visitors, leads and conversions are counts of the referrals that exist: a
//   conversion counts as lead and visitor too, a lead as visitor; a deleted referral leaves all of them.
// - A counter that moves does not move the `updated_at` of its affiliate.
// - Deleting an affiliate deletes its links and referrals; deleting a referral deletes its sales; deleting a
//   sale deletes its commissions.

/** Changes whenever the tables do; a schema that holds another format is refused. */
export const FORMAT = 1;

/** Every table of the sandbox, in an order in which they can be dropped. */
export const TABLES = [
  'commissions',
  'sales',
  'referrals',
  'links',
  'affiliates',
  'campaigns',
  'sandbox_program',
] as const;

/** Returns the statements that create the tables without their triggers, for a schema that has none. */
export function createTablesSql(s: string): string {
  return `
create table ${s}.sandbox_program (
  only_row boolean primary key default true check (only_row),
  format integer not null,
  seed bigint not null,
  affiliates integer not null,
  referrals integer not null,
  revision bigint not null default 0,
  steps bigint not null default 0
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
  visits integer not null
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
create index on ${s}.commissions (affiliate_id);
`;
}

/** Returns the statement that sets every counter from the referrals; for a table filled without triggers. */
export function countAllSql(s: string): string {
  const recount = (table: string, key: string) => `
update ${s}.${table} t
   set visitors = c.visitors, leads = c.leads, conversions = c.conversions
  from (select ${key} as id, count(*) as visitors,
               count(*) filter (where conversion_state in ('lead', 'conversion')) as leads,
               count(*) filter (where conversion_state = 'conversion') as conversions
          from ${s}.referrals where ${key} is not null group by ${key}) c
 where t.id = c.id;`;
  return recount('affiliates', 'affiliate_id') + recount('links', 'link_id');
}

/**
 * Returns the statements that create the triggers: they keep the counters equal to the referrals, and raise
 * `revision` with every write that can change how many rows a list has.
 */
export function createTriggersSql(s: string): string {
  const move = (table: string, key: string, moved: string) => `
  update ${s}.${table} t
     set visitors = t.visitors + d.visitors, leads = t.leads + d.leads, conversions = t.conversions + d.conversions
    from (select ${key} as id, sum(sign) as visitors,
                 coalesce(sum(sign) filter (where conversion_state in ('lead', 'conversion')), 0) as leads,
                 coalesce(sum(sign) filter (where conversion_state = 'conversion'), 0) as conversions
            from (${moved}) moved where ${key} is not null group by ${key}) d
   where t.id = d.id and (d.visitors, d.leads, d.conversions) is distinct from (0, 0, 0);`;
  const counting = (event: string, moved: string) => `
create function ${s}.count_${event}() returns trigger language plpgsql as $$
begin
  ${move('affiliates', 'affiliate_id', moved)}
  ${move('links', 'link_id', moved)}
  return null;
end $$;`;
  const columns = 'affiliate_id, link_id, conversion_state';
  const added = `select ${columns}, 1 as sign from added`;
  const removed = `select ${columns}, -1 as sign from removed`;
  return `
create function ${s}.raise_revision() returns trigger language plpgsql as $$
begin
  update ${s}.sandbox_program set revision = revision + 1;
  return null;
end $$;
${counting('added', added)}
${counting('removed', removed)}
${counting('changed', `${added} union all ${removed}`)}
create trigger count_added after insert on ${s}.referrals
  referencing new table as added for each statement execute function ${s}.count_added();
create trigger count_removed after delete on ${s}.referrals
  referencing old table as removed for each statement execute function ${s}.count_removed();
create trigger count_changed after update on ${s}.referrals
  referencing new table as added old table as removed for each statement execute function ${s}.count_changed();
create trigger raise_revision after insert or delete or update on ${s}.referrals
  for each statement execute function ${s}.raise_revision();
create trigger raise_revision after insert or delete or update of campaign_id, email, processor_customer_id
  on ${s}.affiliates for each statement execute function ${s}.raise_revision();
`;
}

/** Returns the statements that remove everything the two functions above create, and nothing else. */
export function dropTablesSql(s: string): string {
  const tables = TABLES.map((table) => `drop table if exists ${s}.${table};`).join('\n');
  const functions = ['count_added', 'count_removed', 'count_changed', 'raise_revision']
    .map((name) => `drop function if exists ${s}.${name}();`)
    .join('\n');
  return `${tables}\n${functions}`;
}
