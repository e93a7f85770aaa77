// Prints "N passed, N failed", alone on a line. Run as `node count-tests.ts STATUS FILE…`: how the runs of vitest
// ended, and the files that its json reporter wrote. Nothing that did not run counts as a success.

import { existsSync, readFileSync } from 'node:fs';

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

const [, , status, ...paths] = process.argv;
let passed = 0;
let failed = 0;
for (const path of paths) {
  // Lint, types or provisioning failed before any test.
  if (!existsSync(path)) {
    failed += 1;
    continue;
  }
  const { numPassedTests, numFailedTests, testResults }: Results = JSON.parse(readFileSync(path, 'utf8'));
  const unstarted = testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  );
  passed += numPassedTests;
  failed += numFailedTests + unstarted.length;
}
// An error outside of every test.
if (status !== '0' && failed === 0) failed = 1;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
