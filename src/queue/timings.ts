// How long the workers wait for what, in one place, so that a test can scale time down.

export interface Timings {
  /** A job whose worker does not renew its lock for this long is taken over (within two stalledIntervalMs more). */
  readonly lockDurationMs: number;
  readonly stalledIntervalMs: number;
  /** How long an idle worker sleeps where nothing wakes it. */
  readonly drainDelayMs: number;
  /** After a failure of the queue itself. */
  readonly runRetryMs: number;
  /** Between two rounds of the watchdog. */
  readonly watchIntervalMs: number;
  /** A tick that nobody acted upon is made up for after this. */
  readonly tickGraceMs: number;
  /** The longest wait before the second attempt; it doubles with each, up to the second figure. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** No job is put off for longer, whatever asks for it: one that is was put off by a wrong clock. */
  readonly longestDelayMs: number;
  /** A job that stepped aside (stopped, paused) is looked at again after this. */
  readonly stepAsideMs: number;
  /**
   * The wait after a 429 that does not say how long. The budget pauses all requests meanwhile; this frees the worker.
   */
  readonly throttledMs: number;
  /** The same pair for trying a refused secret again. */
  readonly firstProbeMs: number;
  readonly longestProbeMs: number;
  /** A worker that is stopped has ended after this, whatever hangs. */
  readonly stopDeadlineMs: number;
}

/**
 * A killed worker's job goes on elsewhere after 30 to 50 seconds. A stop stays below the 30 seconds that Kubernetes
 * grants (docker-compose.yml asks for as much). Probes of a refused secret: 30 s, 1 min, 2 min … 15 min.
 */
export const TIMINGS: Timings = {
  lockDurationMs: 30_000,
  stalledIntervalMs: 10_000,
  drainDelayMs: 5000,
  runRetryMs: 2000,
  watchIntervalMs: 15_000,
  tickGraceMs: 10_000,
  firstBackoffMs: 5000,
  longestBackoffMs: 600_000,
  longestDelayMs: 600_000,
  // Above the time that closing takes: a worker that closes would take its own job back.
  stepAsideMs: 1500,
  throttledMs: 30_000,
  firstProbeMs: 30_000,
  longestProbeMs: 900_000,
  stopDeadlineMs: 25_000,
};
