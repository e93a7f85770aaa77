// Makes many calls at once and yields their results in the order of the items.

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
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  let next = 0;
  try {
    while (next < items.length || underWay.length > 0) {
      const room = next === 0 ? 1 : concurrency;
      for (const item of items.slice(next, next + room - underWay.length)) {
        const result = call(item);
        // Its turn may come late: until then nobody awaits its failure.
        result.catch(() => undefined);
        underWay.push(result);
        next += 1;
      }
      const first = underWay[0];
      if (first === undefined) return;
      const result = await first;
      underWay.shift();
      yield result;
    }
  } finally {
    await Promise.allSettled(underWay);
  }
}
