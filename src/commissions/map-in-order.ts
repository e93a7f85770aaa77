// Makes many calls at once and yields their results in the order of the items.

import { pMapIterable } from 'p-map';

/**
 * Yields the results in the order of the items, with at most `concurrency` calls under way. The first call goes
 * alone: what fails for every item fails once.
 *
 * Throws: what a call throws, when its turn comes; the others under way are awaited first.
 */
export async function* mapInOrder<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  call: (item: Item) => Promise<Result>,
) {
  const [first, ...others] = items;
  if (first === undefined) return;
  yield await call(first);
  const underWay = new Set<Promise<Result>>();
  try {
    const begin = (item: Item) => {
      const result = call(item);
      underWay.add(result);
      return result.finally(() => underWay.delete(result));
    };
    yield* pMapIterable(others, begin, { concurrency });
  } finally {
    await Promise.allSettled(underWay);
  }
}
