// What a run remembers of nested records is bounded, so that memory does not grow with the program.

/** Of each table; about 1 KB each. */
const MOST_KEPT = 10_000;

/** Keeps the value as the newest of the map, which forgets the oldest where it holds too many. */
export function keepNewest<T>(kept: Map<string, T>, id: string, value: T): void {
  // Set again, an entry moves to the end: the one that was set longest ago is forgotten first.
  kept.delete(id);
  kept.set(id, value);
  if (kept.size <= MOST_KEPT) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
