// The health of a mirror, made up: all is well, but for what a test says.

import type { ResourceStatus } from '../../src/reports/read-freshness.ts';
import type { MirrorHealth } from '../../src/reports/read-health.ts';

export const THEN = '2026-01-02T00:00:00Z';

/** A resource that was read an hour ago. */
export const WELL: ResourceStatus = {
  resource: 'referrals',
  changes_as_of: THEN,
  changes_age_seconds: 3600,
  everything_as_of: THEN,
  everything_age_seconds: 3600,
  deltas_since_everything: 0,
  not_covered: null,
  last_run_id: 1,
  last_run_state: 'succeeded',
  last_run_verified: true,
  last_run_error_code: null,
  last_run_error: null,
  last_run_finished_at: THEN,
  last_run_saved_at: THEN,
  last_run_saved_age_seconds: 3600,
  failing_since: null,
  unverified_since: null,
  last_run_unanswered_seconds: null,
  last_run_unanswered_attempt: null,
  rejected_records: 0,
  rejected_since: null,
  deletions_held_back: 0,
  deletions_held_back_since: null,
  deletions_accepted: 0,
};

export interface GivenHealth {
  readonly resources?: readonly Partial<ResourceStatus>[];
  readonly payments?: Partial<MirrorHealth['payments']>;
  readonly budget?: Partial<MirrorHealth['budget']>;
  readonly worker?: MirrorHealth['worker'];
  readonly books?: MirrorHealth['books'];
  readonly differences?: number;
}

/** Returns it; of referrals alone, unless resources are given. */
export function makeHealth({
  resources = [{}],
  payments,
  budget,
  worker = { secret_refused_since: null, program_changed_since: null },
  books = { compared_at: null, differing: 0, differ_since: null, differ_in: null },
  differences = 0,
}: GivenHealth = {}): MirrorHealth {
  return {
    resources: resources.map((one) => ({ ...WELL, ...one })),
    optional_lists: [],
    commission_differences: differences,
    budget: {
      used_requests: 0,
      foreign_requests: 0,
      limit_requests: null,
      paused_until: null,
      last_throttled_at: null,
      ...budget,
    },
    payments: {
      states: [],
      failed: 0,
      failed_since: null,
      neglected: 0,
      neglected_since: null,
      ...payments,
    },
    books,
    worker,
  };
}
