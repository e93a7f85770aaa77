// The slots of a worker: what matters less leaves some to what matters more.

import { expect, test } from 'vitest';
import { PRIORITY } from '../../../src/worker/queue/job-source.ts';
import { countSlots } from '../../../src/worker/queue/slots.ts';

const KINDS = ['payments', 'polls', 'deltas', 'fullSyncs', 'upkeep'] as const;

function mostOf(programs: number, mostJobs = 200): number[] {
  const slots = countSlots(programs, mostJobs);
  return KINDS.map((kind) => slots.most(PRIORITY[kind]));
}

test.each([
  [1, [20, 16, 16, 16, 16]],
  [3, [20, 16, 16, 16, 16]],
  // Every program's full sync, some exports and retention, and room for deltas beside them.
  [20, [44, 40, 40, 30, 30]],
  [100, [200, 196, 196, 110, 110]],
])('%s programs', (programs, expected) => {
  expect(mostOf(programs)).toEqual(expected);
});

test.each([
  [1, [1, 1, 1, 1, 1]],
  [4, [4, 1, 1, 1, 1]],
  [6, [6, 2, 2, 2, 2]],
])('a limit of %s jobs leaves room for a payment, and for everything else', (mostJobs, expected) => {
  expect(mostOf(100, mostJobs)).toEqual(expected);
});
