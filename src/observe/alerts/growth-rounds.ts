// The growth of each program's tables, measured once an hour. Measuring reads every table, so that a round measures few
// programs of a hundred.

import type { Database } from '../../db/database.ts';
import { type Growth, type GrowthDeps, readGrowth } from '../../reports/read-growth.ts';

const GROWTH_EVERY_MS = 3_600_000;
const ROUNDS_AN_HOUR = 60;

/**
 * Returns a function that begins a round over so many programs. What it returns returns the last known growth of a
 * program; null if it was not measured yet, or not since it failed to be measured.
 *
 * Throws: the database's errors.
 */
export function makeGrowthRounds(): (programs: number) => (program: GrowthDeps) => Promise<Growth | null> {
  const known = new WeakMap<Database, { readonly growth: Growth | null; readonly atMs: number }>();
  return (programs) => {
    let left = Math.ceil((2 * programs) / ROUNDS_AN_HOUR);
    return async (program) => {
      const last = known.get(program.db);
      const isFresh = last !== undefined && performance.now() - last.atMs < GROWTH_EVERY_MS;
      if (isFresh || left === 0) return last?.growth ?? null;
      left -= 1;
      known.delete(program.db);
      const { growth } = await readGrowth(program);
      known.set(program.db, { growth, atMs: performance.now() });
      return growth;
    };
  };
}
