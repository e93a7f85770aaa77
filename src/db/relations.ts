// The tables and views of the mirror for analysts, those for bookkeeping, and the kinds of role.

/** Their rights are in grants.ts. */
export const GRANTEES = ['worker', 'analyst', 'analyst_pii', 'payroll'] as const;
export type Grantee = (typeof GRANTEES)[number];

/** For analysts who may see personal data (a test compares the comments). */
export const ANALYST_RELATIONS: readonly string[] = [
  'campaigns',
  'affiliates',
  'links',
  'referrals',
  'sales',
  'commissions',
  'payouts',
  'record_history',
  'conversion_events',
  'commission_totals',
  'commission_differences',
  'unpaid_commissions',
  'commission_stages',
  'optional_lists',
  'commission_updates',
  'commission_update_attempts',
  'commission_ledger',
  'tracked_commissions',
  'sync_runs',
  'held_back_deletions',
  'rejected_records',
  'schema_drift',
  'request_budget',
  'request_permits',
  'pruned_tables',
];

/** A default privilege would open these to analysts if a later migration made them. */
export const BOOKKEEPING_TABLES: readonly string[] = [
  'schema_migrations',
  'seen_rows',
  'covered_counters',
  'worker_state',
  'personal_data',
  'forgotten_people',
  'forgotten_records',
  'forgotten_addresses',
  'change_clock',
  'exports',
  'alerts',
  'alert_notices',
  'alert_watch',
  'books_comparisons',
  'books_differences',
];

export const RELATIONS: readonly string[] = [...ANALYST_RELATIONS, ...BOOKKEEPING_TABLES];
