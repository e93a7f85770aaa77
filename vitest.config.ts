// The two sets of tests. `npm test` runs what is quick, at a small size. `npm run test:long` (--mode long) runs what is
// long by nature (*.long.test.ts), tests that have a size at their full one, and what both queues share on the other of
// them.

import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Whoever imports this has sizes, and so runs in both sets. */
const SIZES = 'support/sizes.ts';
const LONG = 'test/**/*.long.test.ts';
const COMPILE_CACHE = `${import.meta.dirname}/node_modules/.cache/affiliate-mirror-tests`;

// A starved machine may be ten times slower, and a test that passes is quick anyway. Nothing is tried twice.
const patience = (seconds: number) => ({
  testTimeout: seconds * 1000,
  hookTimeout: Math.max(120, seconds) * 1000,
});
const withPostgres = { globalSetup: ['test/support/global-setup.ts'] };

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  const files = globSync(isLong ? findLong() : 'test/**/*.test.ts', { exclude: isLong ? [] : [LONG] });
  const isUnit = (path: string) => path.endsWith('.unit.test.ts');
  const isEndToEnd = (path: string) => path.startsWith('test/end-to-end/');
  return {
    test: {
      // More than the cores of a small machine: most of a test is waiting for another process.
      maxWorkers: 4,
      // Test files share processes: a process for each would cost a fifth of the whole. What a file opens, it closes.
      isolate: false,
      passWithNoTests: false,
      // The processes that tests start keep their compiled code: half of what starting one takes.
      setupFiles: ['test/support/each-file.ts'],
      env: { TEST_SIZE: isLong ? 'full' : 'small', NODE_COMPILE_CACHE: COMPILE_CACHE },
      expect: { poll: { timeout: isLong ? 600_000 : 100_000, interval: 20 } },
      projects: [
        {
          extends: true,
          test: {
            name: 'unit',
            include: files.filter(isUnit),
            ...patience(isLong ? 600 : 60),
          },
        },
        {
          extends: true,
          test: {
            name: 'integration',
            include: files.filter((path) => !isUnit(path) && !isEndToEnd(path)),
            ...patience(isLong ? 900 : 120),
            ...withPostgres,
          },
        },
        {
          extends: true,
          test: {
            name: 'end-to-end',
            include: files.filter(isEndToEnd),
            ...patience(isLong ? 900 : 240),
            ...withPostgres,
          },
        },
      ],
    },
  };
});

function findLong(): string[] {
  const sized = globSync('test/**/*.test.ts').filter((path) => readFileSync(path, 'utf8').includes(SIZES));
  return [LONG, ...sized];
}
