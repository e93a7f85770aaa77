// The declaration of a gauge: its name, its help, and its samples from the figures of a scrape.

import type { ObservedProgram } from '../observed-program.ts';
import type { Figures } from './read-figures.ts';
import type { Labels, Sample } from './sample.ts';

/** What a scrape knows of one program. */
export interface ProgramReading {
  readonly program: ObservedProgram;
  /** Null if they could not be read: their metrics then have no samples instead of old ones. */
  readonly figures: Figures | null;
  /** Of the figures; null if they were never read, or the program is not listed. */
  readonly ageSeconds: number | null;
}

/** What a scrape knows of the process. */
export interface ProcessReading {
  readonly isDatabaseUp: boolean;
  /** Jobs of the queue by state; null if it does not answer. */
  readonly jobs: Readonly<Record<string, number>> | null;
  /** Null without a PROGRAMS_FILE. */
  readonly isFileRefused: boolean | null;
  readonly readings: readonly ProgramReading[];
  readonly settings: MetricSettings;
}

export interface MetricSettings {
  readonly version: string;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
}

/** Of the counters, see recorder.ts. */
interface GaugeMetric<Reading> {
  /** Without the prefix. */
  readonly name: string;
  readonly help: string;
  /** None if left out. Each series of a listed program also has the label `program`. */
  readonly labels?: readonly string[];
  samples(reading: Reading): readonly Sample[];
}

export interface ProgramMetric extends GaugeMetric<ProgramReading> {
  /** Whether an alert rule reads it, or the sample: the others are left out for a program at rest. */
  readonly isReadByRules?: true | ((sample: Sample) => boolean);
}

export type ProcessMetric = GaugeMetric<ProcessReading>;

export const PREFIX = 'affiliate_mirror_';

/** Returns the sample of a metric without labels; none if the value is not known. */
export function single(value: number | boolean | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value: Number(value) }];
}

/** Returns a sample for each row with a known value. */
export function each<T>(
  rows: readonly T[] | undefined,
  labels: (row: T) => Labels,
  value: (row: T) => number | null,
): readonly Sample[] {
  return (rows ?? []).flatMap((row) => {
    const known = value(row);
    return known === null ? [] : [{ labels: labels(row), value: known }];
  });
}

/** Returns 1 for the current state, and 0 for every other. */
export function oneOf(states: readonly string[], labels: Labels, current: string): readonly Sample[] {
  return states.map((state) => ({ labels: { ...labels, state }, value: Number(state === current) }));
}
