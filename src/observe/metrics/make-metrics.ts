// The metrics as Prometheus reads them: the recorder's counters, and gauges that are read for each scrape.

import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { describeError } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { within } from '../../base/within.ts';
import type { GrowthDeps } from '../../reports/read-growth.ts';
import { type GaugeMetric, type MetricSettings, PREFIX, type Reading, single } from './metric.ts';
import { MIRROR_METRICS } from './mirror-metrics.ts';
import { makeReadFigures } from './read-figures.ts';
import { COUNTERS, type Recorder } from './recorder.ts';
import { WORK_METRICS } from './work-metrics.ts';

export interface MetricsDeps extends GrowthDeps {
  readonly log: Logger;
  readonly recorder: Recorder;
  /** The jobs of the queue by state. May wait for as long as the queue is away. */
  readonly countJobs: () => Promise<Readonly<Record<string, number>>>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly text: string;
}

/** Of the worker itself. */
const PROCESS_METRICS: readonly GaugeMetric[] = [
  {
    name: 'build_info',
    help: 'Always 1: a worker of this version runs.',
    labels: ['version'],
    samples: ({ settings: { version } }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'database_up',
    help: 'Whether the database answered this scrape: if 0, all figures of the database are absent.',
    samples: ({ figures }) => single(figures !== null),
  },
  {
    name: 'figures_read_seconds',
    help: 'How long reading the figures of the database took; they are reused for 50 times as long.',
    samples: ({ figures }) => single(figures?.readSeconds),
  },
  {
    name: 'queue_up',
    help: 'Whether the queue answered this scrape.',
    samples: ({ jobs }) => single(jobs !== null),
  },
];

const GAUGES: readonly GaugeMetric[] = [...PROCESS_METRICS, ...MIRROR_METRICS, ...WORK_METRICS];

export const METRICS = [
  ...Object.entries(COUNTERS).map(([name, { help, labels }]) => ({
    ...{ name, type: 'counter', help },
    labels: Object.keys(labels),
  })),
  ...GAUGES.map(({ name, help, labels = [] }) => ({ name, type: 'gauge', help, labels })),
];

/** Gauges with names that Prometheus' conventions reserve for counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
/** A Redis that is away does not answer at all. */
const QUEUE_TIMEOUT_MS = 5000;

/**
 * Returns the function that answers a scrape. While the database or the queue is away, its metrics have no samples, and
 * `database_up` or `queue_up` is 0.
 */
export function makeMetrics(deps: MetricsDeps, settings: MetricSettings): () => Promise<MetricsText> {
  const { log, recorder, countJobs } = deps;
  const readFigures = makeReadFigures(deps, settings);
  const readJobs = async () => {
    try {
      return await within(QUEUE_TIMEOUT_MS, countJobs());
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'metrics.queue_away');
      return null;
    }
  };
  const { registry } = recorder;
  let latest: Reading = { figures: null, jobs: null, settings };
  addGauges(registry, () => latest);
  return async () => {
    const [figures, jobs] = await Promise.all([readFigures(), readJobs()]);
    latest = { figures, jobs, settings };
    return { contentType: registry.contentType, text: await registry.metrics() };
  };
}

function addGauges(registry: Registry, latest: () => Reading): void {
  for (const { name, help, labels = [], samples } of GAUGES) {
    new Gauge({
      ...{ name: PREFIX + name, help, labelNames: labels, registers: [registry] },
      collect() {
        this.reset();
        // A gauge without labels begins with a 0, which would be a false figure.
        this.remove({});
        for (const sample of samples(latest())) this.set(sample.labels, sample.value);
      },
    });
  }
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
