// All waits of the workers, in one place, so that a test can scale time down.

export interface Timings {
  /** A job whose worker does not renew its lock for this long is taken over (within two stalledIntervalMs more). */
  readonly lockDurationMs: number;
  readonly stalledIntervalMs: number;
  /** An idle worker asks the queue again after this, if nothing wakes it. */
  readonly drainDelayMs: number;
  /** After a failure of the queue itself. */
  readonly runRetryMs: number;
  /** Between two comparisons of the due items with the jobs that exist, if nothing asks for one. */
  readonly watchIntervalMs: number;
  /** A job is given up after so many failures of a kind that may pass. */
  readonly mostAttempts: number;
  /** The longest wait before the second attempt; it doubles with each, up to the second figure. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
  /** No job is delayed for longer, unless by a wrong clock. */
  readonly longestDelayMs: number;
  /** A job whose worker stops is taken up again after this. */
  readonly handBackMs: number;
  /**
   * The wait after a 429 that does not say how long. The budget pauses all requests meanwhile; this frees the worker.
   */
  readonly throttledMs: number;
  /** First and longest wait before an API that refuses the secret or is away is tried again. */
  readonly firstProbeMs: number;
  readonly longestProbeMs: number;
  /** Between two comparisons meanwhile, and after one that failed. */
  readonly compareAgainMs: number;
  /** A worker that is stopped has ended after this, even if a server hangs. */
  readonly stopDeadlineMs: number;
}

/**
 * Two budgets of retries multiply. Within one attempt, the client sends a request up to 5 times over some seconds
 * (src/api/retry.ts): a restart, a lost connection. Here an attempt that failed all the same is repeated for hours:
 * 150 attempts, each after a random part of 5 s, 10 s, 20 s … 10 min, span some twelve hours. A run that is taken up
 * again re-reads the head and at most one page. Waiting for a 429 to pass, for a program that is away, for a refused
 * secret to be corrected or for another worker to stop costs no attempt.
 *
 * A killed worker's job goes on elsewhere after 30 to 50 seconds. A stop stays below the 30 seconds that Kubernetes
 * grants (docker-compose.yml asks for as much). Probes of a program: 10 s, 20 s, 40 s … 10 min.
 */
export const TIMINGS: Timings = {
  lockDurationMs: 30_000,
  stalledIntervalMs: 10_000,
  drainDelayMs: 30_000,
  runRetryMs: 2000,
  watchIntervalMs: 60_000,
  mostAttempts: 150,
  firstBackoffMs: 5000,
  longestBackoffMs: 600_000,
  longestDelayMs: 600_000,
  // Above the time that closing takes: a worker that closes would take its own job back.
  handBackMs: 1500,
  throttledMs: 30_000,
  firstProbeMs: 10_000,
  longestProbeMs: 600_000,
  compareAgainMs: 5000,
  stopDeadlineMs: 25_000,
};
