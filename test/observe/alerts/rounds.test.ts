import { expect, test } from 'vitest';
import { createWellMirror, readAlertStates, startWatcher, waitForLooks } from './watching.ts';

test('the growth of the tables is measured by the first round, and by none soon after it', async () => {
  const database = await createWellMirror();
  let measured = 0;
  const readSpace = async () => {
    measured += 1;
    return null;
  };
  startWatcher(database, { readSpace });
  await waitForLooks(database, 4);
  expect(measured).toBe(1);
});

test('a queue that never answers is away, and holds up no look', async () => {
  const database = await createWellMirror();
  startWatcher(database, { checkQueue: () => new Promise(() => {}) });
  await expect.poll(() => readAlertStates(database)).toEqual(['queue_away noticed']);
});
