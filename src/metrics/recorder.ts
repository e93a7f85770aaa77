// What only the process itself knows, counted from its start: requests, permits and the waits for them, runs, rows.
//
// These are counters of one process, and not counts of tables: a count of the run log would fall when old runs are
// pruned, and Prometheus would take that for a restart. Each worker counts what it did itself, so their sum is what all
// of them did. Labels have few values, none of which comes from the program: no identifier, no path, no name.

import type { RequestEvent } from '../api/request-event.ts';
import type { PermitMeter, Priority, WaitReason } from '../budget/waits.ts';
import { LISTED_RESOURCES, RESOURCES } from '../contract/resources.ts';
import { makeTally, type Sample } from './tally.ts';

/** Of what was committed by one batch. */
export interface BatchRows {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly repeated: number;
}

/** Of a run that ended: the figures that are counted. */
export interface EndedRun {
  readonly resource: string;
  readonly mode: string;
  readonly state: string;
  readonly deleted: number;
  readonly durationMs: number;
}

export interface Recorder {
  countRequest(event: RequestEvent): void;
  permits(priority: Priority): PermitMeter;
  progressed(progress: { readonly resource: string; readonly batch: BatchRows }): void;
  ended(run: EndedRun): void;
  read(): Recorded;
}

/** By the name of the metric, without what all names begin with. */
export type Recorded = Readonly<Record<CounterName, readonly Sample[]>>;

export type CounterName =
  | 'requests_total'
  | 'request_seconds_total'
  | 'permits_granted_total'
  | 'permit_wait_seconds_total'
  | 'runs_total'
  | 'run_seconds_total'
  | 'rows_total';

const MODES = ['full', 'delta'];
const RUN_OUTCOMES = ['succeeded', 'partial', 'failed', 'interrupted', 'skipped'];
const ROW_OUTCOMES = ['inserted', 'updated', 'unchanged', 'rejected', 'repeated'] as const;
const PRIORITIES: readonly Priority[] = ['reads', 'payments'];
const WAIT_REASONS: readonly WaitReason[] = ['pause', 'window', 'payments', 'answer'];
/** Those that say something of their own; any other is counted by its class. */
const STATUSES = [200, 401, 404, 429, 500, 502, 503, 504];
const LIST_PATHS: ReadonlyMap<string, string> = new Map(
  LISTED_RESOURCES.map((resource) => [RESOURCES[resource].path, `list_${resource}`]),
);
const ENDPOINTS = [...LIST_PATHS.values(), 'read_commission', 'write_commission'];

/** Returns the recorder of this process, with nothing counted. */
export function makeRecorder(): Recorder {
  const tallies = {
    requests_total: makeTally(
      ENDPOINTS.flatMap((endpoint) =>
        [...STATUSES, null].map((status) => ({ endpoint, status: nameStatus(status) })),
      ),
    ),
    request_seconds_total: makeTally(ENDPOINTS.map((endpoint) => ({ endpoint }))),
    permits_granted_total: makeTally(PRIORITIES.map((priority) => ({ priority }))),
    permit_wait_seconds_total: makeTally(
      PRIORITIES.flatMap((priority) => WAIT_REASONS.map((reason) => ({ priority, reason }))),
    ),
    runs_total: makeTally(
      LISTED_RESOURCES.flatMap((resource) =>
        MODES.flatMap((mode) => RUN_OUTCOMES.map((outcome) => ({ resource, mode, outcome }))),
      ),
    ),
    run_seconds_total: makeTally(
      LISTED_RESOURCES.flatMap((resource) => MODES.map((mode) => ({ resource, mode }))),
    ),
    rows_total: makeTally(
      LISTED_RESOURCES.flatMap((resource) =>
        [...ROW_OUTCOMES, 'deleted'].map((outcome) => ({ resource, outcome })),
      ),
    ),
  };
  return {
    countRequest({ method, path, status, durationMs }) {
      const endpoint = nameEndpoint(method, path);
      tallies.requests_total.add({ endpoint, status: nameStatus(status) }, 1);
      tallies.request_seconds_total.add({ endpoint }, durationMs / 1000);
    },
    permits: (priority) => ({
      granted: () => tallies.permits_granted_total.add({ priority }, 1),
      waited: (reason, ms) => tallies.permit_wait_seconds_total.add({ priority, reason }, ms / 1000),
    }),
    progressed({ resource, batch }) {
      for (const outcome of ROW_OUTCOMES) tallies.rows_total.add({ resource, outcome }, batch[outcome]);
    },
    ended({ resource, mode, state, deleted, durationMs }) {
      tallies.runs_total.add({ resource, mode, outcome: state }, 1);
      tallies.run_seconds_total.add({ resource, mode }, durationMs / 1000);
      tallies.rows_total.add({ resource, outcome: 'deleted' }, deleted);
    },
    read: () => ({
      requests_total: tallies.requests_total.samples(),
      request_seconds_total: tallies.request_seconds_total.samples(),
      permits_granted_total: tallies.permits_granted_total.samples(),
      permit_wait_seconds_total: tallies.permit_wait_seconds_total.samples(),
      runs_total: tallies.runs_total.samples(),
      run_seconds_total: tallies.run_seconds_total.samples(),
      rows_total: tallies.rows_total.samples(),
    }),
  };
}

function nameEndpoint(method: RequestEvent['method'], path: string): string {
  // The client has no other requests than these: a list, or one commission read or written.
  return LIST_PATHS.get(path) ?? (method === 'GET' ? 'read_commission' : 'write_commission');
}

function nameStatus(status: number | null): string {
  if (status === null) return 'none';
  return STATUSES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}
