-- Why: the tables that hold the copy of the affiliate program, one per resource of its API.
--
-- Decisions that hold for each of them
-- * Identifiers are text: the contract says "Clients must store identifiers in a column or field type that holds a
--   string".
--   They are compared byte by byte (collate "C"): no reader sorts by them, and a key in the database's own
--   language is slower to search. Where one is compared with text of the default collation, Postgres uses "C".
-- * No foreign keys, checks or enums on what the program sends, and every column but the key may be null: the
--   program may send half a pair, a value never seen before, or a partial view of a record.
-- * Column names are the API's own field names. Names that start with an underscore are the mirror's own.
-- * Fields that the contract does not show, but live deployments send, have columns where they mean something to a
--   reader; the comment of each says "Seen in the wild": a program need not send it, and it is null then.
-- * The rows of listed resources have numbers (_row_number), by which a run knows what it has met. Unique, because two
--   rows of one number would be one bit: a deleted record would count as met for good. A first load pays for it with
--   an entry at the right end of a small index for each row, which never moves afterwards.
-- * The only secondary indexes here serve the filters and joins that everyone writes (each says which).

create table campaigns (
  id                             text collate "C" primary key,
  created_at                     timestamptz,
  updated_at                     timestamptz,
  name                           text,
  url                            text,
  private                        boolean,
  commission_percent             double precision,
  days_until_commissions_are_due bigint,
  reward_type                    text,
  commission_amount_cents        bigint,
  max_commission_period_months   bigint,
  _first_seen_at                 timestamptz not null,
  _changed_at                    timestamptz not null,
  _observed_at                   timestamptz not null,
  _deleted_at                    timestamptz,
  _extra                         jsonb,
  _row_number                    bigint not null generated always as identity unique
);

create table affiliates (
  id                                   text collate "C" primary key,
  created_at                           timestamptz,
  updated_at                           timestamptz,
  first_name                           text,
  last_name                            text,
  email                                text,
  payout_email                         text,
  confirmed_at                         timestamptz,
  payout_email_confirmed_at            timestamptz,
  receive_new_commission_notifications boolean,
  sign_in_count                        bigint,
  unconfirmed_email                    text,
  processor_customer_id                text,
  processor_account_id                 text,
  visitors                             bigint,
  leads                                bigint,
  conversions                          bigint,
  state                                text,
  wise_email                           text,
  wise_email_confirmed_at              timestamptz,
  campaign_id                          text collate "C",
  commission_stats                     jsonb,
  _first_seen_at                       timestamptz not null,
  _changed_at                          timestamptz not null,
  _observed_at                         timestamptz not null,
  _deleted_at                          timestamptz,
  _extra                               jsonb,
  _row_number                          bigint not null generated always as identity unique
);

create table links (
  id             text collate "C" primary key,
  affiliate_id   text collate "C",
  url            text,
  token          text,
  visitors       bigint,
  leads          bigint,
  conversions    bigint,
  _first_seen_at timestamptz not null,
  _changed_at    timestamptz not null,
  _observed_at   timestamptz not null,
  _deleted_at    timestamptz,
  _extra         jsonb
);

create table referrals (
  id                    text collate "C" primary key,
  created_at            timestamptz,
  updated_at            timestamptz,
  affiliate_id          text collate "C",
  link_id               text collate "C",
  processor_account_id  text,
  processor_customer_id text,
  conversion_state      text,
  deactivated_at        timestamptz,
  expires_at            timestamptz,
  customer_platform     text,
  customer_id           text,
  customer_name         text,
  customer_email        text,
  visits                bigint,
  became_lead_at        timestamptz,
  became_conversion_at  timestamptz,
  coupon                jsonb,
  _first_seen_at        timestamptz not null,
  _changed_at           timestamptz not null,
  _observed_at          timestamptz not null,
  _deleted_at           timestamptz,
  _extra                jsonb,
  _row_number           bigint not null generated always as identity unique
);

create table sales (
  id                   text collate "C" primary key,
  created_at           timestamptz,
  updated_at           timestamptz,
  referral_id          text collate "C",
  affiliate_id         text collate "C",
  currency             text,
  charged_at           timestamptz,
  processor_account_id text,
  processor_charge_id  text,
  invoiced_at          timestamptz,
  charge_amount_cents  bigint,
  refund_amount_cents  bigint,
  tax_amount_cents     bigint,
  sale_amount_cents    bigint,
  _first_seen_at       timestamptz not null,
  _changed_at          timestamptz not null,
  _observed_at         timestamptz not null,
  _deleted_at          timestamptz,
  _extra               jsonb
);

create table commissions (
  id                   text collate "C" primary key,
  created_at           timestamptz,
  updated_at           timestamptz,
  campaign_id          text collate "C",
  sale_id              text collate "C",
  amount               bigint,
  currency             text,
  due_at               timestamptz,
  paid_at              timestamptz,
  state                text,
  voided_at            timestamptz,
  processor_account_id text,
  payout_id            text collate "C",
  _first_seen_at       timestamptz not null,
  _changed_at          timestamptz not null,
  _observed_at         timestamptz not null,
  _deleted_at          timestamptz,
  _extra               jsonb,
  _row_number          bigint not null generated always as identity unique
);

create table payouts (
  id             text collate "C" primary key,
  created_at     timestamptz,
  updated_at     timestamptz,
  affiliate_id   text collate "C",
  amount         bigint,
  currency       text,
  state          text,
  paid_at        timestamptz,
  paid_by_id     text,
  _first_seen_at timestamptz not null,
  _changed_at    timestamptz not null,
  _observed_at   timestamptz not null,
  _deleted_at    timestamptz,
  _extra         jsonb,
  _row_number    bigint not null generated always as identity unique
);

-- A delta sync and every report by affiliate ask for the referrals of one affiliate.
create index links_affiliate_id on links (affiliate_id);
create index referrals_affiliate_id on referrals (affiliate_id);
-- A payout that is read is compared with the commissions that it had.
create index commissions_payout_id on commissions (payout_id) where payout_id is not null;
-- An incremental load asks each table for what changed since the load before (docs/incremental-loads.md).
create index campaigns_changed_at on campaigns (_changed_at);
create index affiliates_changed_at on affiliates (_changed_at);
create index links_changed_at on links (_changed_at);
create index referrals_changed_at on referrals (_changed_at);
create index sales_changed_at on sales (_changed_at);
create index commissions_changed_at on commissions (_changed_at);
create index payouts_changed_at on payouts (_changed_at);

-- Without it the planner takes every row for a day of its own, and does without parallel workers. It costs nothing but a
-- moment of ANALYZE, where indexes would cost every load.
create statistics referrals_days
  on (date_bin('1 day', created_at, '2000-01-01Z')), (date_bin('1 day', became_lead_at, '2000-01-01Z')) from referrals;

comment on statistics referrals_days is 'On how many days referrals were created, and became leads.';

comment on table campaigns is 'Campaigns of the affiliate program, for which affiliates are recruited. If the API lists them (optional_lists) this is all of them, with their settings; rows with _deleted_at set are gone upstream. Otherwise it is those that affiliates and commissions name.';
comment on table affiliates is 'Affiliates: the people who refer customers. One row per affiliate that the API ever sent; rows with _deleted_at set are gone upstream.';
comment on table links is 'Tracked addresses of the affiliates, with their counters.';
comment on table referrals is 'Referrals: the visitors, leads and customers that affiliates brought. One row per referral that the API ever sent; rows with _deleted_at set are gone upstream.';
comment on table sales is 'Charges of referred customers. Known through the commissions that were read: all if the API lists its commissions (optional_lists), else those of the known ones.';
comment on table commissions is 'Commissions of the affiliates. If the API lists them (see optional_lists) this is all of them, one row per commission that it ever sent; rows with _deleted_at set are gone upstream. Otherwise it is the known ones, those that were read or written one by one; commission_totals compares them with the API''s own totals.';

comment on table payouts is 'Payouts: what the affiliate program pays an affiliate at once, for several commissions in one currency. Empty unless the API lists them (optional_lists). One row per payout that the API ever sent; rows with _deleted_at set are gone upstream. Not a payout file or a payment request of this mirror.';

comment on column campaigns.id is 'Identifier of the campaign (a UUID in text form).';
comment on column campaigns.created_at is 'When the campaign was created in the affiliate program.';
comment on column campaigns.updated_at is 'When the API last updated the campaign.';
comment on column campaigns.name is 'Name of the campaign.';
comment on column campaigns.url is 'Address that the campaign''s links lead to. Seen in the wild: null if the API does not send it.';
comment on column campaigns.private is 'Whether affiliates join by invitation only. Seen in the wild: null if the API does not send it.';
comment on column campaigns.commission_percent is 'Share of a sale that affiliates earn, in per cent. Seen in the wild: null if the API does not send it.';
comment on column campaigns.days_until_commissions_are_due is 'Days after which a commission becomes payable. Seen in the wild: null if the API does not send it.';
comment on column campaigns.reward_type is 'How affiliates are paid: percent (of a sale) or amount (the same for each). An open set: new words may appear. Seen in the wild: null if the API does not send it.';
comment on column campaigns.commission_amount_cents is 'Amount of each commission if reward_type is amount, in the unit of commissions.amount (assumed). Seen in the wild: null if the API does not send it, and elsewhere.';
comment on column campaigns.max_commission_period_months is 'For how many months the sales to a customer earn commissions. Seen in the wild: null if the API does not send it.';

comment on column affiliates.id is 'Identifier of the affiliate (a UUID in text form).';
comment on column affiliates.created_at is 'When the affiliate joined the affiliate program.';
comment on column affiliates.updated_at is 'When the API last updated the affiliate.';
comment on column affiliates.first_name is 'First name.';
comment on column affiliates.last_name is 'Last name.';
comment on column affiliates.email is 'Email address that the affiliate signs in with.';
comment on column affiliates.payout_email is 'Email address at the payout provider; may be an empty string.';
comment on column affiliates.confirmed_at is 'When the affiliate confirmed the email address.';
comment on column affiliates.payout_email_confirmed_at is 'When the affiliate confirmed the payout email address.';
comment on column affiliates.receive_new_commission_notifications is 'Whether the affiliate is notified of each new commission.';
comment on column affiliates.sign_in_count is 'How often the affiliate signed in.';
comment on column affiliates.unconfirmed_email is 'New email address that still waits to be confirmed.';
comment on column affiliates.processor_customer_id is 'Customer identifier of the affiliate at the payment processor, if the affiliate is a customer too.';
comment on column affiliates.processor_account_id is 'Account identifier at the payment processor.';
comment on column affiliates.visitors is 'Visitors referred so far, as the API counts them (leads and conversions included).';
comment on column affiliates.leads is 'Leads referred so far, as the API counts them (conversions included).';
comment on column affiliates.conversions is 'Conversions referred so far, as the API counts them.';
comment on column affiliates.state is 'State of the affiliate, such as active, disabled or suspicious. An open set: new words may appear. Seen in the wild: null if the API does not send it.';
comment on column affiliates.wise_email is 'Email address at another payout provider, for affiliates who are paid there. Seen in the wild: null if the API does not send it.';
comment on column affiliates.wise_email_confirmed_at is 'When the affiliate confirmed that address. Seen in the wild: null if the API does not send it.';
comment on column affiliates.campaign_id is 'Campaign of the affiliate (campaigns.id).';
comment on column affiliates.commission_stats is 'The API''s own commission totals of the affiliate by currency, as last sent. For example: commission_stats #>> ''{currencies,USD,unpaid,cents}''.';

comment on column links.id is 'Identifier of the link (a UUID in text form).';
comment on column links.affiliate_id is 'Affiliate whose link it is (affiliates.id); null if the link was only seen without its affiliate.';
comment on column links.url is 'The tracked address.';
comment on column links.token is 'The token in the address that names the affiliate.';
comment on column links.visitors is 'Visitors that came through the link (leads and conversions included).';
comment on column links.leads is 'Leads that came through the link (conversions included).';
comment on column links.conversions is 'Conversions that came through the link.';

comment on column referrals.id is 'Identifier of the referral (a UUID in text form).';
comment on column referrals.created_at is 'When the referral was created: the first visit.';
comment on column referrals.updated_at is 'When the API last updated the referral.';
comment on column referrals.affiliate_id is 'Affiliate who brought the referral (affiliates.id).';
comment on column referrals.link_id is 'Link that the referral came through (links.id); null if it came by coupon.';
comment on column referrals.processor_account_id is 'Account identifier at the payment processor.';
comment on column referrals.processor_customer_id is 'Customer identifier at the payment processor.';
comment on column referrals.conversion_state is 'How far the referral got: visitor, lead or conversion. An open set: new words may appear.';
comment on column referrals.deactivated_at is 'When the referral was switched off; null while it counts.';
comment on column referrals.expires_at is 'When the referral stops earning commissions.';
comment on column referrals.customer_platform is 'Payment processor of the customer, in lower case; null while there is no customer.';
comment on column referrals.customer_id is 'Customer identifier at the payment processor, as given with the customer.';
comment on column referrals.customer_name is 'Name of the customer.';
comment on column referrals.customer_email is 'Email address of the customer.';
comment on column referrals.visits is 'Number of visits of the referral.';
comment on column referrals.became_lead_at is 'When the referral became a lead. Seen in the wild: null if the API does not send it, and before that.';
comment on column referrals.became_conversion_at is 'When the referral became a conversion. Seen in the wild: null if the API does not send it, and before that.';
comment on column referrals.coupon is 'Coupon that the referral came by, as the API sent it: id, token, external_id, archived, archived_at, affiliate_id. For example: coupon ->> ''token''. Null if it came by a link. Seen in the wild: null if the API does not send it.';

comment on column sales.id is 'Identifier of the sale (a UUID in text form).';
comment on column sales.created_at is 'When the sale was recorded in the API.';
comment on column sales.updated_at is 'When the API last updated the sale.';
comment on column sales.referral_id is 'Referral whose customer was charged (referrals.id).';
comment on column sales.affiliate_id is 'Affiliate who earns from the sale (affiliates.id).';
comment on column sales.currency is 'Currency code of the amounts of the sale, as the API spells it: upper(currency) makes usd and USD one.';
comment on column sales.charged_at is 'When the customer was charged.';
comment on column sales.processor_account_id is 'Account identifier at the payment processor.';
comment on column sales.processor_charge_id is 'Charge identifier at the payment processor.';
comment on column sales.invoiced_at is 'When the sale was invoiced.';
comment on column sales.charge_amount_cents is 'Amount charged. The API calls it cents and does not say more; minor units of the currency are likely (cents of USD, whole yen of JPY).';
comment on column sales.refund_amount_cents is 'Amount refunded, in the unit of charge_amount_cents.';
comment on column sales.tax_amount_cents is 'Tax within the amount, in the unit of charge_amount_cents.';
comment on column sales.sale_amount_cents is 'Amount that commissions are calculated from, in the unit of charge_amount_cents.';

comment on column commissions.id is 'Identifier of the commission (a UUID in text form).';
comment on column commissions.created_at is 'When the commission was created.';
comment on column commissions.updated_at is 'When the API last updated the commission.';
comment on column commissions.campaign_id is 'Campaign whose terms the commission follows (campaigns.id).';
comment on column commissions.sale_id is 'Sale that earned the commission (sales.id).';
comment on column commissions.amount is 'Amount of the commission. The API does not say in which unit; minor units of the currency are likely (cents of USD, whole yen of JPY).';
comment on column commissions.currency is 'Currency code of the amount, as the API spells it: upper(currency) makes usd and USD one.';
comment on column commissions.due_at is 'When the commission becomes payable to the affiliate.';
comment on column commissions.paid_at is 'When the commission was paid; null while it is unpaid.';
comment on column commissions.state is 'State of the commission, such as pending, due, paid or voided. An open set: new words may appear. Seen in the wild: null if the API does not send it.';
comment on column commissions.voided_at is 'When the commission was voided; null if it was not. Seen in the wild: null, too, if the API does not send it.';
comment on column commissions.processor_account_id is 'Account identifier at the payment processor. Seen in the wild: null unless the commission was read within a payout.';
comment on column commissions.payout_id is 'Payout that lists the commission (payouts.id), as it was last read; null if none does, or the API does not list payouts.';

comment on column payouts.id is 'Identifier of the payout (a UUID in text form).';
comment on column payouts.created_at is 'When the payout was created.';
comment on column payouts.updated_at is 'When the API last updated the payout.';
comment on column payouts.affiliate_id is 'Affiliate who is paid (affiliates.id).';
comment on column payouts.amount is 'Amount of the payout, in the unit of commissions.amount.';
comment on column payouts.currency is 'Currency code of the amount, as the API spells it.';
comment on column payouts.state is 'State of the payout: pending, due, processing (it is being paid) or paid. An open set: new words may appear.';
comment on column payouts.paid_at is 'When the payout was paid; null while it is unpaid.';
comment on column payouts.paid_by_id is 'User of the affiliate program who paid it, by identifier; null while it is unpaid.';

-- The mirror's own columns mean the same in each table, so their comments are written once.
do $$
declare
  mirrored text;
begin
  foreach mirrored in array array['campaigns', 'affiliates', 'links', 'referrals', 'sales', 'commissions', 'payouts'] loop
    execute format('comment on column %I._first_seen_at is %L', mirrored,
      'When the mirror first saw the record: when the request that brought it was sent.');
    execute format('comment on column %I._changed_at is %L', mirrored,
      'When the mirror last wrote a change of the content, deletion and return included. A row that is committed later than another never has a smaller one, so a reader who asks for _changed_at > the greatest that it has read misses nothing. A sync that finds nothing new leaves it alone.');
    execute format('comment on column %I._observed_at is %L', mirrored,
      'When the request was sent whose answer wrote the row. Nothing that was observed earlier may overwrite it.');
    execute format('comment on column %I._deleted_at is %L', mirrored,
      'When the mirror found that the record is gone from the affiliate program; null while it exists. Every other column keeps its last value. Filter on _deleted_at is null for what exists today.');
    execute format('comment on column %I._extra is %L', mirrored,
      'Fields that the affiliate program sent and the contract does not know, by name; null where there were none. See schema_drift.');
  end loop;
  foreach mirrored in array array['campaigns', 'affiliates', 'referrals', 'commissions', 'payouts'] loop
    execute format('comment on column %I._row_number is %L', mirrored,
      'Number of the row, given when it was first stored; by it a running sync knows which rows it has met.');
  end loop;
end
$$;
