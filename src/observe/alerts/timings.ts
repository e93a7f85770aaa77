// The waits of the watch, in one place, so that a test can scale time down.

export interface AlertTimings {
  /** Between two evaluations by all workers together, and about as long between two rounds of one worker. */
  readonly evaluateEveryMs: number;
  /** The same for listed programs, of which there may be a hundred. */
  readonly evaluateListedEveryMs: number;
  /**
   * The rest after an evaluation, as a multiple of its duration: with 50, evaluations take at most a fiftieth of one
   * connection's time, however large the mirror is.
   */
  readonly restFactor: number;
  readonly longestRestMs: number;
  /** For so long only one worker may send a message. */
  readonly claimMs: number;
  /** Well below a claim. */
  readonly sendTimeoutMs: number;
  /** The wait after the first failure; it doubles with each, up to longestPauseMs. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  readonly giveUpAfterMs: number;
}

export const ALERT_TIMINGS: AlertTimings = {
  evaluateEveryMs: 15_000,
  evaluateListedEveryMs: 60_000,
  restFactor: 50,
  longestRestMs: 1_800_000,
  claimMs: 90_000,
  // Also below the 25 s in which a worker stops.
  sendTimeoutMs: 15_000,
  firstPauseMs: 10_000,
  longestPauseMs: 3_600_000,
  giveUpAfterMs: 3 * 24 * 3_600_000,
};
