// The one rule for rows that the database refuses: one statement for the group; if it is refused, each row by itself; a
// row that is refused by itself ends with its reason. Claims, announced changes, settled payments and noted answers are
// all written so. Contains no SQL.

import { isRefusal } from '../db/database-errors.ts';

/** Resolves once the item is written, to what `write` returned for it. */
export type AddToGroup<Item, Result> = (item: Item) => Promise<Result>;

/** Returns one result per item, in order; all or nothing. */
export type WriteItems<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/**
 * Returns the result of an item that is refused by itself, with the reason; the item fails with an error that it
 * throws.
 */
export type EndRefused<Item, Result> = (item: Item, reason: Error) => Result | Promise<Result>;

/**
 * Returns a function that adds an item to the next group. While one group is being written the next one gathers, so
 * under load a transaction carries many items, and a single item never waits for others.
 *
 * A refusal ends as `writeTogether` says.
 */
export function makeGroupWrites<Item, Result>(
  write: WriteItems<Item, Result>,
  most: number,
  endRefused?: EndRefused<Item, Result>,
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
        endRefused,
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
 * Writes the items in one go; if that is refused, one by one. Returns their results, in order: an item that is refused
 * by itself ends as `endRefused` says, without it with the refusal. A failure that is no refusal (of the connection,
 * for example) fails every item that is not written yet.
 */
export async function writeTogether<Item, Result>(
  write: WriteItems<Item, Result>,
  items: readonly Item[],
  endRefused: EndRefused<Item, Result> = failWith,
): Promise<PromiseSettledResult<Result>[]> {
  try {
    return (await write(items)).map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (!isRefusal(reason)) return items.map(() => ({ status: 'rejected', reason }));
    const [item] = items;
    if (items.length === 1 && item !== undefined) {
      return await Promise.allSettled([Promise.try(endRefused, item, reason)]);
    }
  }
  const results: PromiseSettledResult<Result>[] = [];
  for (const item of items) {
    const before = results.at(-1);
    const isLost = before?.status === 'rejected' && !isRefusal(before.reason);
    results.push(...(isLost ? [before] : await writeTogether(write, [item], endRefused)));
  }
  return results;
}

function failWith(_item: unknown, reason: Error): never {
  throw reason;
}
