// The metrics of the worker, its queue and its database, and of the programs that it serves.

import { type ProcessMetric, type ProgramMetric, single } from './metric.ts';

export const PROCESS_METRICS: readonly ProcessMetric[] = [
  {
    name: 'build_info',
    help: 'Always 1: a worker of this version runs.',
    labels: ['version'],
    samples: ({ settings: { version } }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'database_up',
    help: 'Whether the database answered this scrape: if 0, all figures of the database are absent.',
    samples: ({ isDatabaseUp }) => single(isDatabaseUp),
  },
  {
    name: 'database_size_bytes',
    help: 'Size of the whole database.',
    samples: ({ readings }) =>
      single(readings.find(({ figures }) => figures?.growth)?.figures?.growth?.bytes),
  },
  {
    name: 'queue_up',
    help: 'Whether the queue answered this scrape.',
    samples: ({ jobs }) => single(jobs !== null),
  },
  {
    name: 'queue_jobs',
    help: 'Jobs of the queue. Waiting are those that any worker may take.',
    labels: ['state'],
    samples: ({ jobs }) => Object.entries(jobs ?? {}).map(([state, value]) => ({ labels: { state }, value })),
  },
  {
    name: 'stale_after_seconds',
    help: 'The age from which the worker calls a resource stale.',
    samples: ({ settings }) => single(settings.maxAgeSeconds),
  },
  {
    name: 'programs_file_refused',
    help: 'Whether PROGRAMS_FILE was changed and is refused: the programs of before are served. Absent without one.',
    samples: ({ isFileRefused }) => single(isFileRefused),
  },
];

export const SERVING_METRICS: readonly ProgramMetric[] = [
  {
    name: 'program_serving',
    help: 'Whether this worker serves the program, which PROGRAMS_FILE lists.',
    samples: ({ program: { name, state } }) => (name === null ? [] : single(state() === 'serving')),
    isReadByRules: true,
  },
  {
    name: 'program_paused',
    help: 'Always 1: this worker has paused the listed program, for this reason.',
    labels: ['reason'],
    samples({ program: { name, state } }) {
      const now = state();
      if (name === null || typeof now === 'string') return [];
      return [{ labels: { reason: now.paused }, value: 1 }];
    },
    isReadByRules: true,
  },
  {
    name: 'figures_age_seconds',
    help: 'Age of the figures of a listed program, which are read in the background.',
    samples: ({ ageSeconds }) => single(ageSeconds),
    isReadByRules: true,
  },
  {
    name: 'figures_read_seconds',
    help: 'How long reading the figures of the database took; they are reused for 50 times as long.',
    samples: ({ figures }) => single(figures?.readSeconds),
  },
];
