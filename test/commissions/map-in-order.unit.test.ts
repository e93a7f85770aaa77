import { expect, test } from 'vitest';
import { mapInOrder } from '../../src/commissions/map-in-order.ts';

/** Calls that end when the test says so. */
function makeCalls() {
  const calls = new Map<number, PromiseWithResolvers<string>>();
  return {
    begun: () => [...calls.keys()],
    call: (item: number) => {
      const ended = Promise.withResolvers<string>();
      calls.set(item, ended);
      return ended.promise;
    },
    end: (item: number) => calls.get(item)?.resolve(`result of ${item}`),
    fail: (item: number, error: Error) => calls.get(item)?.reject(error),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('the first call goes alone, then as many are under way as may be, and results come in order', async () => {
  const { begun, call, end } = makeCalls();
  const results = mapInOrder([1, 2, 3, 4, 5], 3, call);
  const first = results.next();
  await settle();
  expect(begun()).toEqual([1]);
  end(1);
  expect(await first).toEqual({ done: false, value: 'result of 1' });
  const second = results.next();
  await settle();
  expect(begun()).toEqual([1, 2, 3, 4]);
  end(4);
  end(3);
  await settle();
  expect(begun(), 'what is not taken yet counts').toEqual([1, 2, 3, 4]);
  end(2);
  expect(await second).toEqual({ done: false, value: 'result of 2' });
  expect((await results.next()).value).toBe('result of 3');
  await settle();
  end(5);
  expect([(await results.next()).value, (await results.next()).value]).toEqual([
    'result of 4',
    'result of 5',
  ]);
  expect(await results.next()).toEqual({ done: true, value: undefined });
});

test('what fails for the first item is asked once', async () => {
  const { begun, call, fail } = makeCalls();
  const first = mapInOrder([1, 2, 3], 3, call).next();
  await settle();
  const error = new Error('the secret is refused');
  fail(1, error);
  await expect(first).rejects.toBe(error);
  expect(begun()).toEqual([1]);
});

test('a failure is thrown in its turn, once the calls under way have ended; no other begins', async () => {
  const { begun, call, end, fail } = makeCalls();
  const results = mapInOrder([1, 2, 3, 4, 5, 6], 3, call);
  const first = results.next();
  await settle();
  end(1);
  await first;
  const second = results.next();
  let isThrown = false;
  second.catch(() => {
    isThrown = true;
  });
  await settle();
  const error = new Error('the program is down');
  fail(2, error);
  await settle();
  expect(isThrown).toBe(false);
  end(3);
  end(4);
  await expect(second).rejects.toBe(error);
  expect(begun()).toEqual([1, 2, 3, 4]);
});

test('who stops taking results waits for the calls under way, and begins no other', async () => {
  const { begun, call, end } = makeCalls();
  const results = mapInOrder([1, 2, 3, 4, 5, 6], 2, call);
  const first = results.next();
  await settle();
  end(1);
  await first;
  let isStopped = false;
  const second = results.next();
  await settle();
  end(2);
  await second;
  await settle();
  const stopped = results.return(undefined).then(() => {
    isStopped = true;
  });
  await settle();
  expect(isStopped).toBe(false);
  for (const item of begun()) end(item);
  await stopped;
  expect(begun()).toEqual([1, 2, 3, 4]);
});
