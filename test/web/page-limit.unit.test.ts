// However many want to read at once, so many do, and all that still wait are read after them.

import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NoAnswer } from '../../src/base/within.ts';
import { makeLimit } from '../../src/web/view-routes.ts';

test('two at once, in their order, and one that fails lets the next one in', async () => {
  const limit = makeLimit(2, 60_000);
  const begun: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<number>());
  const results = ends.map(({ promise }, index) =>
    limit(() => {
      begun.push(index);
      return promise;
    }).catch(() => 'failed'),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('away'));
  expect(await results[1]).toBe('failed');
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.resolve(0);
  ends[2]?.resolve(2);
  ends[3]?.resolve(3);
  expect(await Promise.all(results)).toEqual([0, 'failed', 2, 3]);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('the work of whoever waited too long is not done when its turn comes, and the next one is let in', async () => {
  const limit = makeLimit(1, 20);
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const reading = limit(() => first.promise);
  const late = limit(async () => begun.push('late'));
  await setTimeout(30);
  const next = limit(async () => begun.push('next'));
  first.resolve();
  await expect(late).rejects.toThrow(NoAnswer);
  await Promise.all([reading, next]);
  expect(begun).toEqual(['next']);
});
