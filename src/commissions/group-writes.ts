// Writes what many ask for at the same time in one transaction, and one by one where one of them is refused. Contains
// no SQL.

import { isRefusal } from '../db/refusal.ts';

/** Resolves once the item is written, to what `write` returned for it. */
export type AddToGroup<Item, Result> = (item: Item) => Promise<Result>;

/** Returns one result per item, in order; all or nothing. */
export type WriteItems<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/**
 * Returns a function that adds an item to the next group. While one group is being written the next one gathers, so
 * under load a transaction carries many items, and a single item never waits for others.
 *
 * An item that is refused fails alone; where the database cannot be reached, every item of the group fails with that
 * error.
 */
export function makeGroupWrites<Item, Result>(
  write: WriteItems<Item, Result>,
  most: number,
): AddToGroup<Item, Result> {
  interface Waiting {
    readonly item: Item;
    readonly resolve: (result: Result) => void;
    readonly reject: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting.splice(0, most);
      const written = await writeTogether(
        write,
        group.map(({ item }) => item),
      );
      group.forEach(({ resolve, reject }, index) => {
        const result = written[index];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      });
    }
    isWriting = false;
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, resolve, reject });
    if (!isWriting) void writeAll();
    return promise;
  };
}

/**
 * Returns what became of each item, in order: written in one go, or, where that is refused, one by one, so that only
 * the item that caused it fails. A failure that is no refusal fails every item not written yet.
 */
export async function writeTogether<Item, Result>(
  write: WriteItems<Item, Result>,
  items: readonly Item[],
): Promise<PromiseSettledResult<Result>[]> {
  try {
    return (await write(items)).map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (items.length === 1 || !isRefusal(reason)) return items.map(() => ({ status: 'rejected', reason }));
  }
  const results: PromiseSettledResult<Result>[] = [];
  for (const item of items) {
    const before = results.at(-1);
    const isLost = before?.status === 'rejected' && !isRefusal(before.reason);
    results.push(...(isLost ? [before] : await writeTogether(write, [item])));
  }
  return results;
}
