// Every job and every schedule of the workers, with what becomes of a job that fails or ends.
//
// Two budgets of retries multiply. Within one attempt, the client sends a request up to 5 times over some seconds
// (src/api/retry.ts): a restart, a lost connection. Here an attempt that failed all the same is repeated for hours:
// 150 attempts, each after a random part of 5 s, 10 s, 20 s … 10 min, span some twelve hours. A run that is taken up
// again re-reads the head and at most one page. Waiting for a 429 to pass, for a refused secret to be corrected or for
// another worker to stop costs no attempt.

import type { Config } from '../config/config.ts';
import type { ListedResource } from '../contract/resources.ts';
import type { Schedule } from '../queue/schedules.ts';
import type { JobKind, Payload, WantedJob } from '../queue/wanted-jobs.ts';
import type { SyncMode } from '../sync/run-summary.ts';

const MOST_ATTEMPTS = 150;

/** The payload of a job of `sync`. */
export interface SyncPayload {
  readonly resource: ListedResource;
  readonly mode: SyncMode;
  /** What is wanted, in the same mode, once this is done. */
  readonly then: readonly ListedResource[];
}

/** Returns the payload of a job of `sync`, which wantSync alone writes. */
export function asSyncPayload(payload: Payload): SyncPayload {
  return payload as unknown as SyncPayload;
}

/** By name; a worker needs a handler for each that it is asked to do. */
export const JOBS = {
  sync: {
    attempts: MOST_ATTEMPTS,
    // While a delta waits or runs, another would find the same; a full run finds what a delta cannot.
    isNews: (waiting, wanted) => waiting['mode'] === 'delta' && wanted['mode'] === 'full',
    next: (payload) => {
      const { mode, then } = asSyncPayload(payload);
      return wantSync(mode, then);
    },
  },
  'write-commissions': {
    attempts: MOST_ATTEMPTS,
    // A request that came while the outbox was being emptied may have come too late for that.
    isNews: () => true,
    next: () => [],
  },
  'poll-commissions': {
    attempts: MOST_ATTEMPTS,
    // Whatever falls due while it runs is found by it, or by the next one.
    isNews: () => false,
    next: () => [],
  },
} as const satisfies Record<string, JobKind>;

/** Returns the work that mirrors the resources one after the other, the first of them as a job. */
export function wantSync(mode: SyncMode, resources: readonly ListedResource[]): WantedJob[] {
  const [resource, ...then] = resources;
  if (resource === undefined) return [];
  const payload: SyncPayload = { resource, mode, then };
  return [{ key: `sync-${resource}`, name: 'sync', payload: { ...payload } }];
}

/** The work that empties the outbox of commission updates. */
export const WRITE_COMMISSIONS: WantedJob = {
  key: 'write-commissions',
  name: 'write-commissions',
  payload: {},
};

/** The work that asks the program for the known commissions that are due for a poll. */
const POLL_COMMISSIONS: WantedJob = { key: 'poll-commissions', name: 'poll-commissions', payload: {} };

/** Affiliates first: their counters say what a delta of referrals looks for. */
const IN_ORDER: readonly ListedResource[] = ['affiliates', 'referrals'];

/** Returns the schedules that the configuration asks for. */
export function makeSchedules({ full, delta, timezone }: Config['schedules']): Schedule[] {
  const syncs = [
    { name: 'sync-full', pattern: full, wants: wantSync('full', IN_ORDER) },
    { name: 'sync-delta', pattern: delta, wants: wantSync('delta', IN_ORDER) },
  ];
  return syncs.flatMap(({ name, pattern, wants }) =>
    pattern === null ? [] : [{ name, pattern, timezone, wants }],
  );
}

/** Finds the requests whose notification got lost, and the known commissions that are due for a poll. */
export const SWEEP_COMMISSIONS: Schedule = {
  name: 'sweep-commissions',
  pattern: '* * * * *',
  timezone: 'UTC',
  wants: [WRITE_COMMISSIONS, POLL_COMMISSIONS],
};
