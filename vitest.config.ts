// The three projects of the tests, and how much of the machine they may take.

import { defineConfig } from 'vitest/config';

const withPostgres = { globalSetup: ['test/support/global-setup.ts'], hookTimeout: 60_000 };

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/**/*.unit.test.ts'], testTimeout: 10_000 } },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.unit.test.ts', 'test/end-to-end/**'],
          testTimeout: 30_000,
          ...withPostgres,
        },
      },
      {
        extends: true,
        test: {
          name: 'end-to-end',
          include: ['test/end-to-end/**/*.test.ts'],
          testTimeout: 120_000,
          ...withPostgres,
        },
      },
    ],
  },
});
