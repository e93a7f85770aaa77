// The metrics of the worker itself: its version, and whether it reaches its servers.

import { type GaugeMetric, single } from './metric.ts';

export const PROCESS_METRICS: readonly GaugeMetric[] = [
  {
    name: 'build_info',
    help: 'Always 1: a worker of this version runs.',
    labels: ['version'],
    samples: ({ settings: { version } }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'database_up',
    help: 'Whether the database answered this scrape: where it is 0, no figure of the database is there.',
    samples: ({ figures }) => single(figures !== null),
  },
  {
    name: 'figures_read_seconds',
    help: 'How long reading the figures of the database took; they are kept 50 times as long.',
    samples: ({ figures }) => single(figures?.readSeconds),
  },
  {
    name: 'queue_up',
    help: 'Whether the queue answered this scrape.',
    samples: ({ jobs }) => single(jobs !== null),
  },
];
