// Counters as plain numbers, by labels: what a process counts before anybody asks for it, and before the library that
// spells it for Prometheus is loaded. Pure.

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface Tally {
  add(labels: Labels, value: number): void;
  samples(): readonly Sample[];
}

/**
 * Returns a tally. It begins with zeros for what is known to come: Prometheus cannot see the first of a series that
 * begins with one.
 */
export function makeTally(known: readonly Labels[]): Tally {
  const byKey = new Map<string, { labels: Labels; value: number }>();
  const add = (labels: Labels, value: number) => {
    const key = Object.values(labels).join('\0');
    const counted = byKey.get(key);
    if (counted === undefined) byKey.set(key, { labels, value });
    else counted.value += value;
  };
  for (const labels of known) add(labels, 0);
  return { add, samples: () => [...byKey.values()] };
}
