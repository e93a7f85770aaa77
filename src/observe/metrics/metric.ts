// The declaration of a gauge: its name, its help, and its samples from the figures of a scrape.

import type { RateLimit } from '../../config/program/rate-limit.ts';
import type { Figures } from './read-figures.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** The figures of one scrape. */
export interface Reading {
  /** Null if the database does not answer: its metrics then have no samples instead of old ones. */
  readonly figures: Figures | null;
  /** Jobs of the queue by state; null if it does not answer. */
  readonly jobs: Readonly<Record<string, number>> | null;
  readonly settings: MetricSettings;
}

export interface MetricSettings {
  readonly version: string;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly rateLimit: RateLimit;
}

/** Read for each scrape; the counters are in recorder.ts. */
export interface GaugeMetric {
  /** Without the prefix. */
  readonly name: string;
  readonly help: string;
  /** None if left out. */
  readonly labels?: readonly string[];
  samples(reading: Reading): readonly Sample[];
}

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
