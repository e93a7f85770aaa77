-- What analysts and their tools read: views that answer questions, apart from the bookkeeping, with personal data for
-- those alone who may see it. This file has the mirrored records; the files beside it have what is made of them.
--
-- :"reports" is the schema of these views (<MIRROR_SCHEMA>_reports); names without a schema are the mirror's own.
--
-- Decisions
-- * A view shows living rows only. A payment ledger and a run log have no rows that could be gone.
-- * Stable: other people's dashboards read these views. Columns are added at the end, and never renamed, retyped or
--   dropped, so that `create or replace` keeps grants and the views that users made over these.
-- * One set of views. A column with personal data is null unless the role that asks may read the table that it comes
--   from. No right of its own, no marker that could be granted by accident: a role that cannot read the table cannot read
--   it here either, and a user's view over these asks the same question of its own reader. The question has
--   a subquery of its own, so it is asked once per statement and not once per row.
-- * Null, and not a cut or hashed address: half an address is half a person, and joins have their identifiers.
-- * What the program sends beyond its contract (_extra, the rest of a coupon) is left out, because its content is unknown.
--   Tokens and addresses of links and coupons count as personal: they are made of the affiliate's name.
-- * Comments carry the keys, since views have none and the mirrored tables have no foreign keys: "Primary key.",
--   "Part of the primary key.", "Refers to affiliates.id.". A column that is the mirror's own has the mirror's comment
--   (copy_comments); what this schema says otherwise is written after that.

create or replace view :"reports".campaigns as
select id,
       created_at,
       updated_at,
       name,
       url,
       private,
       commission_percent,
       days_until_commissions_are_due,
       reward_type,
       commission_amount_cents,
       max_commission_period_months,
       _changed_at
from campaigns
where _deleted_at is null;

comment on view :"reports".campaigns is 'Campaigns of the affiliate program, for which affiliates are recruited.';
select copy_comments('campaigns', 'campaigns');

create or replace view :"reports".affiliates as
select id,
       created_at,
       updated_at,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then first_name end as first_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then last_name end as last_name,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then email end as email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then payout_email end as payout_email,
       confirmed_at,
       payout_email_confirmed_at,
       receive_new_commission_notifications,
       sign_in_count,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then unconfirmed_email end
         as unconfirmed_email,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then processor_customer_id end
         as processor_customer_id,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then processor_account_id end
         as processor_account_id,
       visitors,
       leads,
       conversions,
       state,
       case when (select has_table_privilege('affiliates'::regclass, 'select')) then wise_email end as wise_email,
       wise_email_confirmed_at,
       campaign_id,
       _changed_at
from affiliates
where _deleted_at is null;

comment on view :"reports".affiliates is 'Affiliates: the people who refer customers.';
select copy_comments('affiliates', 'affiliates', array['first_name', 'last_name', 'email', 'payout_email',
  'unconfirmed_email', 'processor_customer_id', 'processor_account_id', 'wise_email']);

create or replace view :"reports".links as
select id,
       affiliate_id,
       case when (select has_table_privilege('links'::regclass, 'select')) then url end as url,
       case when (select has_table_privilege('links'::regclass, 'select')) then token end as token,
       visitors,
       leads,
       conversions,
       _changed_at
from links
where _deleted_at is null;

comment on view :"reports".links is 'Tracked addresses of the affiliates, with their counters.';
select copy_comments('links', 'links', array['url', 'token']);

create or replace view :"reports".referrals as
select id,
       created_at,
       updated_at,
       affiliate_id,
       link_id,
       processor_account_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then processor_customer_id end
         as processor_customer_id,
       conversion_state,
       deactivated_at,
       expires_at,
       customer_platform,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_id end as customer_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_name end as customer_name,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then customer_email end as customer_email,
       visits,
       became_lead_at,
       became_conversion_at,
       coupon ->> 'id' as coupon_id,
       case when (select has_table_privilege('referrals'::regclass, 'select')) then coupon ->> 'token' end as coupon_token,
       _changed_at
from referrals
where _deleted_at is null;

comment on view :"reports".referrals is 'Referrals: the visitors, leads and customers that affiliates brought.';
select copy_comments('referrals', 'referrals', array['processor_customer_id', 'customer_id', 'customer_name',
  'customer_email']);
comment on column :"reports".referrals.coupon_id is 'Coupon that the referral came by; null if it came by a link. Seen in the wild: null if the API does not send it.';
comment on column :"reports".referrals.coupon_token is 'The word that customers enter to use the coupon. Personal data: null unless you may read the table referrals.';

create or replace view :"reports".sales as
select id, created_at, updated_at, referral_id, affiliate_id, currency, charged_at, processor_account_id,
       processor_charge_id, invoiced_at, charge_amount_cents, refund_amount_cents, tax_amount_cents, sale_amount_cents,
       _changed_at
from sales
where _deleted_at is null;

comment on view :"reports".sales is 'Charges of referred customers: all that earned a commission if the API lists its commissions, else those of the known ones (see freshness).';
select copy_comments('sales', 'sales');

create or replace view :"reports".commissions as
select commission.id,
       commission.created_at,
       commission.updated_at,
       commission.campaign_id,
       commission.sale_id,
       commission.amount,
       commission.currency,
       commission.due_at,
       commission.paid_at,
       commission.state,
       commission.voided_at,
       sale.affiliate_id,
       sale.referral_id,
       commission._changed_at,
       commission.processor_account_id,
       commission.payout_id
from commissions commission
left join sales sale on sale.id = commission.sale_id
where commission._deleted_at is null;

comment on view :"reports".commissions is 'Commissions of the affiliates: all of them if the API lists them, else the known ones (see freshness). Voided ones are among them.';
select copy_comments('commissions', 'commissions');
comment on column :"reports".commissions.affiliate_id is 'Affiliate who earns the commission: that of its sale. Refers to affiliates.id.';
comment on column :"reports".commissions.referral_id is 'Referral whose customer was charged: that of its sale. Refers to referrals.id.';
comment on column :"reports".commissions._changed_at is 'When the mirror last wrote a change of the commission; it stays if its sale gets another affiliate or referral. To load what changed, read the tables commissions and sales: this view has no deleted rows.';

create or replace view :"reports".payouts as
select id, created_at, updated_at, affiliate_id, amount, currency, state, paid_at, paid_by_id, _changed_at
from payouts
where _deleted_at is null;

comment on view :"reports".payouts is 'Payouts: what the affiliate program pays an affiliate at once, for the commissions that name the payout. Empty unless the API lists its payouts (see freshness).';
select copy_comments('payouts', 'payouts');
