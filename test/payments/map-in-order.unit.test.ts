import { expect, test } from 'vitest';
import { mapInOrder } from '../../src/payments/look-up.ts';

/** Results of calls that end when the test says so; the first has ended already. */
async function begin(items: readonly number[], concurrency: number) {
  const calls = new Map<number, PromiseWithResolvers<string>>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const results = mapInOrder(items, concurrency, (item) => {
    const ended = Promise.withResolvers<string>();
    calls.set(item, ended);
    return ended.promise;
  });
  const end = async (...ended: number[]) => {
    for (const item of ended) calls.get(item)?.resolve(`result of ${item}`);
    await settle();
  };
  const begun = () => [...calls.keys()];
  const first = results.next();
  await settle();
  expect(begun(), 'the first call goes alone').toEqual([1]);
  await end(1);
  expect(await first).toEqual({ done: false, value: 'result of 1' });
  const second = results.next();
  await settle();
  return {
    results,
    second,
    begun,
    end,
    settle,
    fail: (item: number, error: Error) => calls.get(item)?.reject(error),
  };
}

test('after the first, as many calls are under way as may be, and results come in order', async () => {
  const { results, second, begun, end, settle } = await begin([1, 2, 3, 4, 5], 3);
  expect(begun()).toEqual([1, 2, 3, 4]);
  await end(4, 3);
  expect(begun(), 'what is not taken yet counts').toEqual([1, 2, 3, 4]);
  await end(2);
  expect((await second).value).toBe('result of 2');
  expect((await results.next()).value).toBe('result of 3');
  await settle();
  await end(5);
  expect([(await results.next()).value, (await results.next()).value]).toEqual([
    'result of 4',
    'result of 5',
  ]);
  expect(await results.next()).toEqual({ done: true, value: undefined });
});

test('a failure is thrown in its turn, once the calls under way have ended; no other begins', async () => {
  const { second, begun, end, settle, fail } = await begin([1, 2, 3, 4, 5, 6], 3);
  let isThrown = false;
  second.catch(() => {
    isThrown = true;
  });
  const error = new Error('the API is down');
  fail(2, error);
  await settle();
  expect(isThrown).toBe(false);
  await end(3, 4);
  await expect(second).rejects.toBe(error);
  expect(begun()).toEqual([1, 2, 3, 4]);
});

test('who stops taking results waits for the calls under way, and begins no other', async () => {
  const { results, second, begun, end, settle } = await begin([1, 2, 3, 4, 5, 6], 2);
  await end(2);
  await second;
  await settle();
  let isStopped = false;
  const stopped = results.return(undefined).then(() => {
    isStopped = true;
  });
  await settle();
  expect(isStopped).toBe(false);
  await end(...begun());
  await stopped;
  expect(begun()).toEqual([1, 2, 3, 4]);
});
