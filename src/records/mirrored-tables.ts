// The columns of each mirrored table that hold what the program sent, with their SQL types, and what nests in what.
// A test compares them with the database.

/** The SQL types that occur in mirrored tables. */
export type ColumnType = 'text' | 'timestamptz' | 'bigint' | 'double precision' | 'boolean' | 'jsonb';

const times = { created_at: 'timestamptz', updated_at: 'timestamptz' } as const;

/** In the order in which every load writes them: what is nested comes before what it is nested in. */
export const MIRRORED_TABLES = {
  campaigns: {
    id: 'text',
    ...times,
    name: 'text',
    url: 'text',
    private: 'boolean',
    commission_percent: 'double precision',
    days_until_commissions_are_due: 'bigint',
  },
  affiliates: {
    id: 'text',
    ...times,
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    payout_email: 'text',
    confirmed_at: 'timestamptz',
    payout_email_confirmed_at: 'timestamptz',
    receive_new_commission_notifications: 'boolean',
    sign_in_count: 'bigint',
    unconfirmed_email: 'text',
    processor_customer_id: 'text',
    processor_account_id: 'text',
    visitors: 'bigint',
    leads: 'bigint',
    conversions: 'bigint',
    state: 'text',
    wise_email: 'text',
    wise_email_confirmed_at: 'timestamptz',
    campaign_id: 'text',
    commission_stats: 'jsonb',
  },
  links: {
    id: 'text',
    affiliate_id: 'text',
    url: 'text',
    token: 'text',
    visitors: 'bigint',
    leads: 'bigint',
    conversions: 'bigint',
  },
  referrals: {
    id: 'text',
    ...times,
    affiliate_id: 'text',
    link_id: 'text',
    processor_account_id: 'text',
    processor_customer_id: 'text',
    conversion_state: 'text',
    deactivated_at: 'timestamptz',
    expires_at: 'timestamptz',
    customer_platform: 'text',
    customer_id: 'text',
    customer_name: 'text',
    customer_email: 'text',
    visits: 'bigint',
    became_lead_at: 'timestamptz',
    became_conversion_at: 'timestamptz',
    coupon: 'jsonb',
  },
  sales: {
    id: 'text',
    ...times,
    referral_id: 'text',
    affiliate_id: 'text',
    currency: 'text',
    charged_at: 'timestamptz',
    processor_account_id: 'text',
    processor_charge_id: 'text',
    invoiced_at: 'timestamptz',
    charge_amount_cents: 'bigint',
    refund_amount_cents: 'bigint',
    tax_amount_cents: 'bigint',
    sale_amount_cents: 'bigint',
  },
  commissions: {
    id: 'text',
    ...times,
    campaign_id: 'text',
    sale_id: 'text',
    amount: 'bigint',
    currency: 'text',
    due_at: 'timestamptz',
    paid_at: 'timestamptz',
    state: 'text',
    voided_at: 'timestamptz',
  },
} as const satisfies Record<string, { id: 'text' } & Record<string, ColumnType>>;

export type MirroredTable = keyof typeof MIRRORED_TABLES;

/** The tables in the order of MIRRORED_TABLES, which every load keeps: two loads then never wait for each other. */
export const LOAD_ORDER = Object.keys(MIRRORED_TABLES) as readonly MirroredTable[];

/** The names of each table's columns in order: a row's values are in this order. */
export const COLUMN_NAMES: Readonly<Record<MirroredTable, readonly string[]>> = {
  campaigns: Object.keys(MIRRORED_TABLES.campaigns),
  affiliates: Object.keys(MIRRORED_TABLES.affiliates),
  links: Object.keys(MIRRORED_TABLES.links),
  referrals: Object.keys(MIRRORED_TABLES.referrals),
  sales: Object.keys(MIRRORED_TABLES.sales),
  commissions: Object.keys(MIRRORED_TABLES.commissions),
};

/** The types of the same columns by name. */
export const COLUMN_TYPES: Readonly<Record<MirroredTable, Readonly<Record<string, ColumnType>>>> =
  MIRRORED_TABLES;
