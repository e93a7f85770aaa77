// How long the watch waits for what, in one place, so that a test can scale time down.

export interface AlertTimings {
  /** Between two looks of all workers together; the wait of each worker between two rounds is about the same. */
  readonly lookIntervalMs: number;
  /**
   * The rest after a look, as a multiple of what it took: with 50, looks take a fiftieth of one connection's time at
   * most, however large the mirror is.
   */
  readonly restFactor: number;
  /** It rests no longer than this. */
  readonly longestRestMs: number;
  /** For how long one worker alone may send a message. */
  readonly claimMs: number;
  /** A receiver that has not accepted a message by then has failed. Well below a claim. */
  readonly sendTimeoutMs: number;
  /** The wait after the first failure; it doubles with each, up to the second figure. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** A message that no receiver took for so long is given up. */
  readonly giveUpAfterMs: number;
}

export const ALERT_TIMINGS: AlertTimings = {
  lookIntervalMs: 15_000,
  restFactor: 50,
  // For a look of 36 seconds.
  longestRestMs: 1_800_000,
  claimMs: 90_000,
  // Also below the 25 s in which a worker stops.
  sendTimeoutMs: 15_000,
  firstPauseMs: 10_000,
  longestPauseMs: 3_600_000,
  giveUpAfterMs: 3 * 24 * 3_600_000,
};
