// prom-client's registries: of what is known of each program, and of the process. Both write what they are given.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { PREFIX, type ProcessReading, type ProgramMetric, type ProgramReading } from './metric.ts';
import { MIRROR_METRICS } from './mirror-metrics.ts';
import { PROCESS_METRICS, SERVING_METRICS } from './process-metrics.ts';
import { COUNTERS, type CounterName, type Shown } from './recorder.ts';
import type { Labels, Sample } from './sample.ts';
import { WORK_METRICS } from './work-metrics.ts';

export const PROGRAM_METRICS: readonly ProgramMetric[] = [
  ...MIRROR_METRICS,
  ...WORK_METRICS,
  ...SERVING_METRICS,
];

export const CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Gauges with names that Prometheus' conventions reserve for counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

interface ProgramSamples {
  /** Of the program itself, on every sample. */
  readonly own: Labels;
  readonly of: ReadonlyMap<string, readonly Sample[]>;
}

/** Returns the function that writes the metrics of programs. */
export function makeWritePrograms(): (
  readings: readonly ProgramReading[],
  shownOf: (reading: ProgramReading) => Shown,
) => Promise<string> {
  const registry = new Registry();
  let latest: readonly ProgramSamples[] = [];
  const samplesOf = (name: string): Sample[] =>
    latest.flatMap(({ own, of }) =>
      (of.get(name) ?? []).map(({ labels, value }) => ({ labels: { ...own, ...labels }, value })),
    );
  for (const [name, { help, labels }] of Object.entries(COUNTERS)) {
    const labelNames = [...Object.keys(labels), 'program'];
    new Counter({
      ...{ name: PREFIX + name, help, labelNames, registers: [registry] },
      collect() {
        this.reset();
        for (const sample of samplesOf(name)) this.inc(sample.labels, sample.value);
      },
    });
  }
  for (const metric of PROGRAM_METRICS) addGauge(registry, metric, ['program'], () => samplesOf(metric.name));
  const write = inTurn(() => registry.metrics());
  return (readings, shownOf) =>
    write(() => {
      latest = readings.map((reading) => sample(reading, shownOf(reading)));
    });
}

/** Returns the function that writes the metrics of the process, and of Node. */
export function makeWriteProcess(): (reading: ProcessReading) => Promise<string> {
  const registry = new Registry();
  let latest: ProcessReading | null = null;
  for (const metric of PROCESS_METRICS) {
    addGauge(registry, metric, [], () => (latest === null ? [] : metric.samples(latest)));
  }
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const write = inTurn(() => registry.metrics());
  return (reading) =>
    write(() => {
      latest = reading;
    });
}

function addGauge(
  registry: Registry,
  { name, help, labels = [] }: Pick<ProgramMetric, 'name' | 'help' | 'labels'>,
  more: readonly string[],
  read: () => readonly Sample[],
): void {
  new Gauge({
    ...{ name: PREFIX + name, help, labelNames: [...labels, ...more], registers: [registry] },
    collect() {
      this.reset();
      // A gauge without labels begins with a 0, which would be a false figure.
      this.remove({});
      for (const sample of read()) this.set(sample.labels, sample.value);
    },
  });
}

function sample(reading: ProgramReading, shown: Shown): ProgramSamples {
  const { name, recorder } = reading.program;
  const gauges = PROGRAM_METRICS.map((metric): [string, readonly Sample[]] => {
    const { name, isReadByRules = () => false } = metric;
    const samples = metric.samples(reading);
    return [name, shown !== 'rules' || isReadByRules === true ? samples : samples.filter(isReadByRules)];
  });
  const counters = Object.entries(recorder.read(shown)) as [CounterName, readonly Sample[]][];
  return { own: name === null ? {} : { program: name }, of: new Map([...counters, ...gauges]) };
}

/** Returns a function that sets what is written, and writes it: one call after the other. */
function inTurn(write: () => Promise<string>): (set: () => void) => Promise<string> {
  let last: Promise<unknown> = Promise.resolve();
  return (set) => {
    const written = last.then(() => {
      set();
      return write();
    });
    last = written.catch(() => undefined);
    return written;
  };
}
