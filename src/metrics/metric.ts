// What a gauge is: its name, what it says, and how its samples follow from what was read for a scrape.

import type { RateLimit } from '../config/rate-limit.ts';
import type { Figures } from './read-figures.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** What one scrape knows. */
export interface Reading {
  /** Null where the database does not answer: what is read of it then has no samples, rather than old ones. */
  readonly figures: Figures | null;
  /** Jobs of the queue by state; null where it does not answer. */
  readonly jobs: Readonly<Record<string, number>> | null;
  readonly settings: MetricSettings;
}

export interface MetricSettings {
  readonly version: string;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly rateLimit: RateLimit;
}

/** What is read for each scrape; what is counted is in recorder.ts. */
export interface GaugeMetric {
  /** Without what all names begin with. */
  readonly name: string;
  readonly help: string;
  /** None if left out. */
  readonly labels?: readonly string[];
  samples(reading: Reading): readonly Sample[];
}

/** What all names begin with. */
export const PREFIX = 'affiliate_mirror_';

/** Returns the one sample of a metric without labels; none where the value is not known. */
export function single(value: number | boolean | null | undefined): readonly Sample[] {
  return value === null || value === undefined ? [] : [{ labels: {}, value: Number(value) }];
}

/** Returns a sample for each of the rows whose value is known. */
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

/** Returns 1 for the state that something is in, and 0 for each other that it could be in. */
export function oneOf(states: readonly string[], labels: Labels, current: string): readonly Sample[] {
  return states.map((state) => ({ labels: { ...labels, state }, value: Number(state === current) }));
}
