// The counters of this process: requests, permits and the waits for them, runs, rows.
//
// They are not counts of tables: a count of the run log would fall when old runs are pruned, and Prometheus would take
// that for a restart. Each worker counts its own work, so that the sum is that of all workers. Labels have few values,
// none of which comes from the API: no identifier, no path, no name.

import { Counter, Registry } from 'prom-client';
import type { RequestEvent } from '../../api/request-event.ts';
import type { PermitMeter, Priority, WaitReason } from '../../budget/waits.ts';
import { LISTED_RESOURCES, RESOURCES } from '../../contract/resources.ts';
import { type Labels, PREFIX } from './metric.ts';

/** Of one committed batch. */
export interface BatchRows {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
  readonly repeated: number;
}

export interface EndedRun {
  readonly resource: string;
  readonly mode: string;
  readonly state: string;
  readonly rows_deleted: number;
  readonly duration_ms: number;
}

export interface Recorder {
  countRequest(event: RequestEvent): void;
  permits(priority: Priority): PermitMeter;
  progressed(progress: { readonly resource: string; readonly batch: BatchRows }): void;
  ended(run: EndedRun): void;
  readonly registry: Registry;
}

const MODES = ['full', 'delta'];
const RUN_OUTCOMES = ['succeeded', 'partial', 'failed', 'interrupted', 'skipped'];
const ROW_OUTCOMES = ['inserted', 'updated', 'unchanged', 'rejected', 'repeated'] as const;
const PRIORITIES: readonly Priority[] = ['reads', 'payments'];
const WAIT_REASONS: readonly WaitReason[] = ['pause', 'window', 'payments', 'answer'];
/** Any other status is counted by its class. */
const STATUSES = [200, 401, 404, 429, 500, 502, 503, 504];
const KNOWN_STATUSES = [...STATUSES.map(String), 'none'];
const LIST_PATHS: ReadonlyMap<string, string> = new Map(
  LISTED_RESOURCES.map((resource) => [RESOURCES[resource].path, `list_${resource}`]),
);
const SINGLE_ENDPOINTS = ['read_commission', 'write_commission', 'read_payout', 'write_payout'];
const ENDPOINTS = [...LIST_PATHS.values(), ...SINGLE_ENDPOINTS];

interface CounterDeclaration {
  readonly help: string;
  /** By label, the expected values. Their series begin with 0: Prometheus cannot see an increase to a first 1. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
}

export const COUNTERS = {
  requests_total: {
    help: 'Requests sent to the API, by endpoint and by status of the answer; none: no answer came.',
    labels: { endpoint: ENDPOINTS, status: KNOWN_STATUSES },
  },
  request_seconds_total: {
    help: 'Seconds from sending a request to the end of its answer, added up.',
    labels: { endpoint: ENDPOINTS },
  },
  permits_granted_total: {
    help: 'Permits of the request budget that were granted.',
    labels: { priority: PRIORITIES },
  },
  permit_wait_seconds_total: {
    help: 'Seconds that requests waited for a permit, added up, by reason.',
    labels: { priority: PRIORITIES, reason: WAIT_REASONS },
  },
  runs_total: {
    help: 'Runs of this worker that ended; skipped: another process held the resource.',
    labels: { resource: LISTED_RESOURCES, mode: MODES, outcome: RUN_OUTCOMES },
  },
  run_seconds_total: {
    help: 'Seconds that this worker spent in runs that ended, added up.',
    labels: { resource: LISTED_RESOURCES, mode: MODES },
  },
  rows_total: {
    help: 'Records that this worker committed, by outcome; repeated: read again in the same run.',
    labels: { resource: LISTED_RESOURCES, outcome: [...ROW_OUTCOMES, 'deleted'] },
  },
} satisfies Readonly<Record<string, CounterDeclaration>>;

/** Returns the recorder of this process, with nothing counted. */
export function makeRecorder(): Recorder {
  const registry = new Registry();
  const counters = new Map(
    Object.entries<CounterDeclaration>(COUNTERS).map(([name, { help, labels }]) => {
      const labelNames = Object.keys(labels);
      const counter = new Counter({ name: PREFIX + name, help, labelNames, registers: [registry] });
      for (const known of combine(labels)) counter.inc(known, 0);
      return [name, counter];
    }),
  );
  const add = (name: keyof typeof COUNTERS, labels: Labels, value: number) =>
    counters.get(name)?.inc(labels, value);
  return {
    registry,
    countRequest({ method, path, status, durationMs }) {
      const endpoint = nameEndpoint(method, path);
      add('requests_total', { endpoint, status: nameStatus(status) }, 1);
      add('request_seconds_total', { endpoint }, durationMs / 1000);
    },
    permits: (priority) => ({
      granted: () => add('permits_granted_total', { priority }, 1),
      waited: (reason, ms) => add('permit_wait_seconds_total', { priority, reason }, ms / 1000),
    }),
    progressed({ resource, batch }) {
      for (const outcome of ROW_OUTCOMES) add('rows_total', { resource, outcome }, batch[outcome]);
    },
    ended({ resource, mode, state, rows_deleted, duration_ms }) {
      add('runs_total', { resource, mode, outcome: state }, 1);
      add('run_seconds_total', { resource, mode }, duration_ms / 1000);
      add('rows_total', { resource, outcome: 'deleted' }, rows_deleted);
    },
  };
}

/** Returns every combination of the labels' values. */
function combine(labels: CounterDeclaration['labels']): Labels[] {
  return Object.entries(labels).reduce<Labels[]>(
    (rows, [label, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [label]: value }))),
    [{}],
  );
}

function nameEndpoint(method: RequestEvent['method'], path: string): string {
  // The client sends only these: a list, or one commission or payout read or written.
  const record = path.startsWith(`${RESOURCES.payouts.path}/`) ? 'payout' : 'commission';
  return LIST_PATHS.get(path) ?? `${method === 'GET' ? 'read' : 'write'}_${record}`;
}

function nameStatus(status: number | null): string {
  if (status === null) return 'none';
  return STATUSES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}
