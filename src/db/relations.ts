// Which tables and views of the mirror are for analysts, and which keep its own books.

/**
 * The tables and views of the mirror that analysts read who may see personal data; the others keep the mirror's own
 * books (a test compares the comments).
 */
export const ANALYST_RELATIONS: readonly string[] = [
  'campaigns',
  'affiliates',
  'links',
  'referrals',
  'sales',
  'commissions',
  'record_history',
  'conversion_events',
  'commission_totals',
  'commission_differences',
  'unpaid_commissions',
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

/** Those that a default privilege would open to analysts, had they been made after it. */
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
];
