import { expect, test } from 'vitest';
import { makeGrowth } from '../../reports/make-growth.ts';
import { createWellMirror, readAlertStates, startWatcher, waitForLooks } from './watching.ts';

test('the growth of the tables is measured by the first round, and by none soon after it', async () => {
  const database = await createWellMirror();
  let measured = 0;
  const readGrowth = async () => {
    measured += 1;
    return makeGrowth();
  };
  startWatcher(database, { readGrowth });
  await waitForLooks(database, 4);
  expect(measured).toBe(1);
});

test('a queue that never answers is away, and holds up no look', async () => {
  const database = await createWellMirror();
  startWatcher(database, { checkQueue: () => new Promise(() => {}) });
  await expect.poll(() => readAlertStates(database)).toEqual(['queue_away noticed']);
});
