// The metrics of a program's mirror, read from the database: every worker reports the same.

import { CONCERN_CODES } from '../../reports/concern-advice.ts';
import type { TableGrowth } from '../../reports/measure-tables.ts';
import type { ResourceStatus } from '../../reports/read-freshness.ts';
import type { RunStatus } from '../../reports/read-runs.ts';
import { each, oneOf, type ProgramMetric, single } from './metric.ts';
import type { Sample } from './sample.ts';

type Sampled = Pick<ProgramMetric, 'labels' | 'samples'>;

const RUN_STATES = ['running', 'succeeded', 'partial', 'failed', 'interrupted'];

export const MIRROR_METRICS: readonly ProgramMetric[] = [
  {
    name: 'freshness_age_seconds',
    help: 'Age of the mirror: since the start of the last verified run. Absent if there was none.',
    ...byResource(({ changes_age_seconds }) => changes_age_seconds),
    isReadByRules: true,
  },
  {
    name: 'full_freshness_age_seconds',
    help: 'The same, since everything of the resource was last read. Absent if it never was.',
    ...byResource(({ everything_age_seconds }) => everything_age_seconds),
    isReadByRules: true,
  },
  {
    name: 'concern',
    help: 'Whether "affiliate-mirror status" finds this wrong.',
    labels: ['code'],
    samples: ({ figures }) =>
      figures === null
        ? []
        : CONCERN_CODES.map((code) => ({
            labels: { code },
            value: Number(figures.concerns.some((concern) => concern.code === code)),
          })),
    isReadByRules: ({ value }) => value === 1,
  },
  {
    name: 'concern_since_timestamp_seconds',
    help: 'Since when it is wrong, in Unix time: of a failure, the first since the last success. Absent if not known.',
    labels: ['code', 'resource'],
    samples: ({ figures }) =>
      each(
        figures?.concerns,
        ({ code, resource }) => ({ code, resource: resource ?? '' }),
        ({ since }) => (since === null ? null : Date.parse(since) / 1000),
      ),
  },
  {
    name: 'secret_refused',
    help: 'Whether the API refuses the secret, which pauses all workers.',
    samples: ({ figures }) => single(figures && figures.worker.secret_refused_since !== null),
    isReadByRules: true,
  },
  {
    name: 'last_run_state',
    help: '1 for the state of the last run, of any process, and 0 for the others.',
    labels: ['resource', 'state'],
    samples: ({ figures }) =>
      (figures?.resources ?? []).flatMap(({ resource, last_run_state: state }) =>
        state === null ? [] : oneOf(RUN_STATES, { resource }, state),
      ),
    isReadByRules: ({ labels }) => ['failed', 'partial'].includes(labels['state'] ?? ''),
  },
  {
    name: 'last_run_duration_seconds',
    help: 'How long the last run took from its first start, or takes so far.',
    ...byLatestRun(({ duration_seconds }) => duration_seconds),
  },
  {
    name: 'last_run_requests',
    help: 'Requests of the last run.',
    ...byLatestRun(({ requests }) => requests),
  },
  {
    name: 'last_run_rows',
    help: 'Records of the last run, by outcome.',
    labels: ['resource', 'outcome'],
    samples: ({ figures }) => (figures?.more?.latestRuns ?? []).flatMap(rowsOf),
  },
  {
    name: 'runs_last_day',
    help: 'Runs that ended within 24 hours, of any process, by the run log.',
    labels: ['resource', 'state'],
    samples: ({ figures }) =>
      each(
        figures?.more?.runsOfLastDay,
        ({ resource, state }) => ({ resource, state }),
        ({ runs }) => runs,
      ),
  },
  {
    name: 'rejected_records',
    help: 'Records that could not be stored: the most of one run, since everything was last read.',
    ...byResource(({ rejected_records }) => rejected_records),
    isReadByRules: true,
  },
  {
    name: 'held_back_deletions',
    help: 'Rows that look deleted, but are held back and not accepted.',
    ...byResource(({ deletions_held_back, deletions_accepted }) => deletions_held_back - deletions_accepted),
    isReadByRules: true,
  },
  {
    name: 'schema_drift_fields',
    help: 'Fields that appeared, vanished or changed their type, since everything was last read.',
    labels: ['resource'],
    samples: ({ figures }) =>
      each(
        figures?.resources,
        ofResource,
        ({ resource }) => figures?.drift.filter((drift) => drift.resource === resource).length ?? null,
      ),
    isReadByRules: true,
  },
  {
    name: 'table_rows',
    help: 'Rows of a table that grows, those marked deleted among them; above 8 MB an estimate.',
    ...byTable(({ rows }) => rows),
  },
  {
    name: 'table_size_bytes',
    help: 'Size of a table that grows, with its indexes.',
    ...byTable(({ bytes }) => bytes),
  },
];

function ofResource({ resource }: { readonly resource: string }): { resource: string } {
  return { resource };
}

function byResource(value: (status: ResourceStatus) => number | null): Sampled {
  return { labels: ['resource'], samples: ({ figures }) => each(figures?.resources, ofResource, value) };
}

function byLatestRun(value: (run: RunStatus) => number | null): Sampled {
  return {
    labels: ['resource'],
    samples: ({ figures }) => each(figures?.more?.latestRuns, ofResource, value),
  };
}

function byTable(value: (table: TableGrowth) => number): Sampled {
  const nameOf = ({ table_name: table }: TableGrowth) => ({ table });
  return { labels: ['table'], samples: ({ figures }) => each(figures?.growth?.tables, nameOf, value) };
}

function rowsOf({ resource, ...run }: RunStatus): readonly Sample[] {
  const outcomes = {
    inserted: run.rows_inserted,
    updated: run.rows_updated,
    unchanged: run.rows_unchanged,
    rejected: run.rows_rejected,
    deleted: run.rows_deleted,
  };
  return Object.entries(outcomes).map(([outcome, value]) => ({ labels: { resource, outcome }, value }));
}
