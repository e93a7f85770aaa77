// The counters of this process for one program: requests, permits and the waits for them, runs, rows.
//
// They are not counts of tables: a count of the run log would fall when old runs are pruned, and Prometheus would take
// that for a restart. Each worker counts its own work, so that the sum is that of all workers. Labels have few values,
// none of which comes from the API: no identifier, no path, no name.

import type { RequestEvent } from '../../api/request-event.ts';
import type { PermitMeter, Priority, WaitReason } from '../../budget/waits.ts';
import { LISTED_RESOURCES, RESOURCES } from '../../contract/resources.ts';
import type { Labels, Sample } from './sample.ts';

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
  /** Returns how long nothing was counted, in milliseconds; Infinity if nothing ever was. */
  idleMs(): number;
  /** Returns the samples of each counter. */
  read(shown: Shown): Readonly<Record<CounterName, readonly Sample[]>>;
}

/**
 * `rules`: what alert rules read and is not 0. `all`: everything; the first time since something was counted after
 * a rest, as it was before, because Prometheus sees no increase from an absent series. `now`: everything as it is.
 */
export type Shown = 'rules' | 'all' | 'now';

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
  readonly isReadByRules?: true;
}

export const COUNTERS = {
  requests_total: {
    help: 'Requests sent to the API, by endpoint and by status of the answer; none: no answer came.',
    labels: { endpoint: ENDPOINTS, status: KNOWN_STATUSES },
    isReadByRules: true,
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

export type CounterName = keyof typeof COUNTERS;
type Values = ReadonlyMap<string, Sample>;

const NAMES = Object.keys(COUNTERS) as CounterName[];
const ZEROS = forEachCounter(
  (name): Values =>
    new Map(combine(COUNTERS[name].labels).map((labels) => [keyOf(labels), { labels, value: 0 }])),
);
/** A scrape leaves out most counters of a program that counted nothing for so long (isAtRest). */
export const REST_MS = 600_000;

/** Returns a recorder with nothing counted. */
export function makeRecorder(): Recorder {
  const counted = forEachCounter(() => new Map<string, Sample>());
  let before: Readonly<Record<CounterName, Values>> | null = null;
  let lastMs = Number.NEGATIVE_INFINITY;
  const idleMs = () => performance.now() - lastMs;
  const add = (name: CounterName, labels: Labels, value: number) => {
    if (idleMs() >= REST_MS) before = forEachCounter((one) => new Map(counted[one]));
    lastMs = performance.now();
    const key = keyOf(labels);
    counted[name].set(key, { labels, value: (counted[name].get(key)?.value ?? 0) + value });
  };
  return {
    idleMs,
    read(shown) {
      const values = shown === 'all' ? (before ?? counted) : counted;
      if (shown === 'all') before = null;
      return forEachCounter((name) => {
        if (shown !== 'rules') return [...new Map([...ZEROS[name], ...values[name]]).values()];
        return isReadByRules(name) ? [...values[name].values()] : [];
      });
    },
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

export function isReadByRules(name: CounterName): boolean {
  return (COUNTERS[name] as CounterDeclaration).isReadByRules === true;
}

function forEachCounter<Result>(of: (name: CounterName) => Result): Record<CounterName, Result> {
  return Object.fromEntries(NAMES.map((name) => [name, of(name)])) as Record<CounterName, Result>;
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join(' ');
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
