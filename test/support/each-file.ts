// Runs before each test file. Registered before any hook of the file, and hooks that end a file run last to first: so
// what it closes is closed last.

import { afterAll, type RunnerTestSuite, TestRunner } from 'vitest';
import { closeFile } from './after-file.ts';

const { file } = TestRunner.getCurrentSuite();
if (file === undefined) throw new Error('vitest runs this outside a test file');

afterAll(() => closeFile({ hasFailed: hasFailed(file) }));

function hasFailed(suite: Readonly<RunnerTestSuite>): boolean {
  if (suite.result?.state === 'fail') return true;
  return suite.tasks.some((task) =>
    task.type === 'suite' ? hasFailed(task) : task.result?.state === 'fail',
  );
}
