// The metrics that each worker counts by itself: their sum is what all of them did. And whether it reaches its servers.

import { type Metric, single } from './metric.ts';
import type { CounterName } from './recorder.ts';

function counter(name: CounterName, labels: readonly string[], help: string): Metric {
  return { name, type: 'counter', help, labels, samples: ({ recorded }) => recorded[name] };
}

export const PROCESS_METRICS: readonly Metric[] = [
  {
    name: 'build_info',
    type: 'gauge',
    help: 'Always 1: a worker of this version runs.',
    labels: ['version'],
    samples: ({ settings: { version } }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'database_up',
    type: 'gauge',
    help: 'Whether the database answered this scrape: where it is 0, no figure of the database is there.',
    labels: [],
    samples: ({ figures }) => single(figures !== null),
  },
  {
    name: 'figures_read_seconds',
    type: 'gauge',
    help: 'How long reading the figures of the database took; they are kept 50 times as long.',
    labels: [],
    samples: ({ figures }) => single(figures?.readSeconds),
  },
  {
    name: 'queue_up',
    type: 'gauge',
    help: 'Whether the queue answered this scrape.',
    labels: [],
    samples: ({ jobs }) => single(jobs !== null),
  },
  counter(
    'requests_total',
    ['endpoint', 'status'],
    'Requests sent to the program, by what for and by the status of the answer; none: no answer came.',
  ),
  counter(
    'request_seconds_total',
    ['endpoint'],
    'Seconds from sending a request to the end of its answer, added up.',
  ),
  counter('permits_granted_total', ['priority'], 'Permits of the request budget that were granted.'),
  counter(
    'permit_wait_seconds_total',
    ['priority', 'reason'],
    'Seconds that requests waited for a permit, added up, by what they waited for.',
  ),
  counter(
    'runs_total',
    ['resource', 'mode', 'outcome'],
    'Runs of this worker that ended; skipped: another process was at it.',
  ),
  counter(
    'run_seconds_total',
    ['resource', 'mode'],
    'Seconds that this worker spent in runs that ended, added up.',
  ),
  counter(
    'rows_total',
    ['resource', 'outcome'],
    'Records that this worker committed, by what became of each; repeated: read once more in the same run.',
  ),
];
