// The row types of every table, as the pool returns values: bigint as number, timestamptz as ISO 8601 text.
// A test compares the mirrored ones with the database; what a column means is in its comment there.

import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';

interface MirrorMetadata {
  _first_seen_at: Timestamp;
  _changed_at: Timestamp;
  _observed_at: Timestamp;
  _deleted_at: Timestamp | null;
  _extra: Json | null;
}

/** Written as JSON text, read as a parsed value. */
type Json = JSONColumnType<object>;

/** Of the tables whose lists a sync walks. */
interface Numbered {
  _row_number: GeneratedAlways<number>;
}

interface Times {
  created_at: Timestamp | null;
  updated_at: Timestamp | null;
}

export interface CampaignsTable extends MirrorMetadata, Times, Numbered {
  id: string;
  name: string | null;
  url: string | null;
  private: boolean | null;
  commission_percent: number | null;
  days_until_commissions_are_due: number | null;
}

export interface AffiliatesTable extends MirrorMetadata, Times, Numbered {
  id: string;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  payout_email: string | null;
  confirmed_at: Timestamp | null;
  payout_email_confirmed_at: Timestamp | null;
  receive_new_commission_notifications: boolean | null;
  sign_in_count: number | null;
  unconfirmed_email: string | null;
  processor_customer_id: string | null;
  processor_account_id: string | null;
  visitors: number | null;
  leads: number | null;
  conversions: number | null;
  state: string | null;
  wise_email: string | null;
  wise_email_confirmed_at: Timestamp | null;
  campaign_id: string | null;
  commission_stats: Json | null;
}

export interface LinksTable extends MirrorMetadata {
  id: string;
  affiliate_id: string | null;
  url: string | null;
  token: string | null;
  visitors: number | null;
  leads: number | null;
  conversions: number | null;
}

export interface ReferralsTable extends MirrorMetadata, Times, Numbered {
  id: string;
  affiliate_id: string | null;
  link_id: string | null;
  processor_account_id: string | null;
  processor_customer_id: string | null;
  conversion_state: string | null;
  deactivated_at: Timestamp | null;
  expires_at: Timestamp | null;
  customer_platform: string | null;
  customer_id: string | null;
  customer_name: string | null;
  customer_email: string | null;
  visits: number | null;
  became_lead_at: Timestamp | null;
  became_conversion_at: Timestamp | null;
  coupon: Json | null;
}

export interface SalesTable extends MirrorMetadata, Times {
  id: string;
  referral_id: string | null;
  affiliate_id: string | null;
  currency: string | null;
  charged_at: Timestamp | null;
  processor_account_id: string | null;
  processor_charge_id: string | null;
  invoiced_at: Timestamp | null;
  charge_amount_cents: number | null;
  refund_amount_cents: number | null;
  tax_amount_cents: number | null;
  sale_amount_cents: number | null;
}

export interface CommissionsTable extends MirrorMetadata, Times, Numbered {
  id: string;
  campaign_id: string | null;
  sale_id: string | null;
  amount: number | null;
  currency: string | null;
  due_at: Timestamp | null;
  paid_at: Timestamp | null;
  state: string | null;
  voided_at: Timestamp | null;
}

export type RunMode = 'full' | 'delta';
export type RunState = 'running' | 'succeeded' | 'partial' | 'failed' | 'interrupted' | 'skipped';

export interface SyncRunsTable {
  id: Generated<number>;
  resource: string;
  mode: RunMode;
  state: Generated<RunState>;
  requests: Generated<number>;
  pages: Generated<number>;
  rows_seen: Generated<number>;
  rows_inserted: Generated<number>;
  rows_updated: Generated<number>;
  rows_unchanged: Generated<number>;
  rows_rejected: Generated<number>;
  rows_repeated: Generated<number>;
  rows_deleted: Generated<number>;
  deletes_held_back: Generated<number>;
  total_upstream: number | null;
  distinct_seen: Generated<number>;
  verified: Generated<boolean>;
  plan: JSONColumnType<object> | null;
  reads_everything: ColumnType<boolean, never, never>;
  checkpoint: JSONColumnType<object> | null;
  error_code: string | null;
  error: string | null;
  attempt: Generated<number>;
  started_at: Generated<Timestamp>;
  heartbeat_at: Generated<Timestamp>;
  finished_at: Timestamp | null;
}

export interface SeenRowsTable {
  run_id: number;
  row_numbers: number[];
  rejected_ids: string[];
  unnamed_links: { id: string; affiliateId: string; observedAt: string }[];
}

export interface CoveredCountersTable {
  affiliate_id: string;
  run_id: number;
  visitors: number;
  leads: number;
  conversions: number;
}

export interface RejectedRecordsTable {
  id: Generated<number>;
  run_id: number | null;
  resource: string;
  record_id: string | null;
  reason: string;
  payload: ColumnType<unknown, string, never>;
  observed_at: Timestamp;
}

export interface SchemaDriftTable {
  run_id: number;
  resource: string;
  field: string;
  kind: 'appeared' | 'vanished' | 'retyped';
  found: string | null;
  occurrences: number;
}

export interface HeldBackDeletionsTable {
  resource: string;
  record_id: string;
  run_id: number;
  held_back_at: Generated<Timestamp>;
  accepted_at: Timestamp | null;
  accepted_by: string | null;
}

export interface OptionalListsTable {
  resource: string;
  setting: Generated<'auto' | 'on' | 'off'>;
  is_served: boolean | null;
  is_used: GeneratedAlways<boolean>;
  found_at: Timestamp | null;
  found_by: string | null;
  asked_at: Timestamp | null;
  problem: string | null;
}

export interface RecordHistoryTable {
  id: Generated<number>;
  table_name: string;
  /** Null, like `before` and `after`, for inserted, and only then. */
  record_id: string | null;
  /** Of inserted alone. */
  record_ids: string[] | null;
  change: 'inserted' | 'updated' | 'deleted' | 'resurrected';
  before: JSONColumnType<Record<string, unknown>> | null;
  after: JSONColumnType<Record<string, unknown>> | null;
  observed_at: Timestamp;
  recorded_at: Timestamp;
  run_id: number | null;
}

export interface ConversionEventsView {
  referral_id: string;
  affiliate_id: string | null;
  link_id: string | null;
  customer_email: string | null;
  from_state: string | null;
  converted_at: Timestamp;
  is_exact: boolean;
  observed_at: Timestamp;
  run_id: number | null;
  _deleted_at: Timestamp | null;
}

export interface Tables {
  campaigns: CampaignsTable;
  affiliates: AffiliatesTable;
  links: LinksTable;
  referrals: ReferralsTable;
  sales: SalesTable;
  commissions: CommissionsTable;
  sync_runs: SyncRunsTable;
  seen_rows: SeenRowsTable;
  covered_counters: CoveredCountersTable;
  rejected_records: RejectedRecordsTable;
  schema_drift: SchemaDriftTable;
  held_back_deletions: HeldBackDeletionsTable;
  optional_lists: OptionalListsTable;
  record_history: RecordHistoryTable;
  conversion_events: ConversionEventsView;
}
