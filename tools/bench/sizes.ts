// How much is measured: in full, and as a smoke run.

const FULL = {
  referrals: 100_000,
  rounds: 5,
  others: [10_000, 1_000_000],
  // Six windows, and four: the difference is what a program costs that is read for long. In the first windows half of
  // the CPU time is that of code which V8 has not compiled yet.
  limited: { referrals: 30_000, fewer: 21_000, rateLimit: '45/30' },
  delta: { referrals: 100_000, rounds: 3 },
  peer: { referrals: 100_000, customers: 20_000, repetitions: 3 },
  queue: { jobs: 2_000, repetitions: 3 },
  reports: { referrals: 1_000_000, commissions: 100_000 },
  page: { referrals: 1_000_000, updates: 10_000, looks: 11 },
  // As many requests under the limit as fill six windows.
  commissions: { updates: 5_000, limited: { updates: 135, requests: 45, seconds: 10 } },
  payouts: { payouts: 500, processingMs: [2_000, 60_000] },
  exports: { rows: 1_000_000 },
  // Three windows of each program's budget.
  fleet: { programs: 100, few: 40, referrals: 13_000, rateLimit: '45/30', restSeconds: 60 },
};

export type Sizes = typeof FULL;

const QUICK: Sizes = {
  referrals: 2_000,
  rounds: 1,
  others: [1_000, 4_000],
  limited: { referrals: 2_000, fewer: 400, rateLimit: '20/1' },
  delta: { referrals: 2_000, rounds: 1 },
  peer: { referrals: 2_000, customers: 500, repetitions: 1 },
  queue: { jobs: 100, repetitions: 1 },
  reports: { referrals: 2_000, commissions: 500 },
  page: { referrals: 2_000, updates: 20, looks: 2 },
  commissions: { updates: 50, limited: { updates: 20, requests: 10, seconds: 0.5 } },
  payouts: { payouts: 10, processingMs: [100] },
  exports: { rows: 2_000 },
  fleet: { programs: 4, few: 2, referrals: 2_000, rateLimit: '10/1', restSeconds: 5 },
};

/** Returns the sizes of a run; the figures of a quick one mean nothing. */
export function sizesOf({ isQuick }: { isQuick: boolean }): Sizes {
  return isQuick ? QUICK : FULL;
}
