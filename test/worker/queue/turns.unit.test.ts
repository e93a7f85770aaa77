// The rounds of programs take turns; one that hangs holds up no other for long.

import { expect, test } from 'vitest';
import { makeTurns } from '../../../src/worker/queue/turns.ts';

const LONG_MS = 100_000;

test('so many at once, in their order, and a failure ends its turn', async () => {
  const take = makeTurns(2, LONG_MS);
  const begun: number[] = [];
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
  const turns = gates.map(({ promise }, index) =>
    take(() => {
      begun.push(index);
      return promise;
    }),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  gates[1]?.reject(new Error('it fails'));
  await expect(turns[1]).rejects.toThrow('it fails');
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  gates[0]?.resolve(7);
  expect(await turns[0]).toBe(7);
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const { resolve } of gates) resolve(0);
  await Promise.all([turns[2], turns[3]]);
});

test('one that takes long counts no more, and does so once', async () => {
  const take = makeTurns(1, 1);
  const hanging = Promise.withResolvers<void>();
  const first = take(() => hanging.promise);
  let active = 0;
  let most = 0;
  const others = [1, 2, 3].map(() =>
    take(async () => {
      active += 1;
      most = Math.max(most, active);
      await Promise.resolve();
      active -= 1;
    }),
  );
  await Promise.all(others);
  hanging.resolve();
  await first;
  expect(most).toBe(1);
});
