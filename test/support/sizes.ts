// How much a test does: a little in `npm test`, all of it in `npm run test:long` (see vitest.config.ts, which runs
// every test file that imports this one in both).

const isFull = process.env['TEST_SIZE'] === 'full';

/** Returns the first in `npm test`, the second in `npm run test:long`. */
export function sized<T>(small: T, full: T): T {
  return isFull ? full : small;
}
