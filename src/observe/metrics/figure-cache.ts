// The figures of listed programs, read in the background with their alerts (alerts/observe-program.ts), so that a
// scrape of all of them reads none.

import type { Database } from '../../db/database.ts';
import type { Figures } from './read-figures.ts';

export interface FigureCache {
  /** Returns the last figures, and their age; null without figures that are recent. */
  get(db: Database): { readonly figures: Figures | null; readonly ageSeconds: number | null };
  /** Null if they could not be read. */
  put(db: Database, figures: Figures | null): void;
  /** Whether new figures are of use: none were read yet, or they were asked for lately. */
  isWanted(db: Database): boolean;
}

const WANTED_FOR_MS = 600_000;
const OUTDATED_SECONDS = 600;

export function makeFigureCache(): FigureCache {
  const known = new WeakMap<Database, { readonly figures: Figures | null; readonly readAtMs: number }>();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return {
    get(db) {
      askedAtMs = performance.now();
      const last = known.get(db);
      if (last === undefined) return { figures: null, ageSeconds: null };
      const ageSeconds = (askedAtMs - last.readAtMs) / 1000;
      return { figures: ageSeconds < OUTDATED_SECONDS ? last.figures : null, ageSeconds };
    },
    put(db, figures) {
      const last = known.get(db);
      if (figures !== null) known.set(db, { figures, readAtMs: performance.now() });
      else if (last !== undefined) known.set(db, { ...last, figures });
    },
    isWanted: (db) => !known.has(db) || performance.now() - askedAtMs < WANTED_FOR_MS,
  };
}
