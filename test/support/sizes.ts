// How much a test does: a little in `npm test`, all of it in `npm run test:long` (see vitest.config.ts, which runs
// every test file that imports this one in both).

import type fc from 'fast-check';

const isFull = process.env['TEST_SIZE'] === 'full';

/** Returns the first in `npm test`, the second in `npm run test:long`. */
export function sized<T>(small: T, full: T): T {
  return isFull ? full : small;
}

/**
 * Returns how often to try a property. Each run draws anew; a failure prints its seed and path, and the case that it
 * shrank to belongs into the property's examples for good.
 */
export function tries<Case>(small: number, full: number, examples: Case[] = []): fc.Parameters<Case> {
  return { numRuns: sized(small, full), examples };
}
