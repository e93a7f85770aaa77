// Writes what many ask for at the same time in one transaction. Knows waiting, no SQL.

/** Gives back a function that resolves once its item is written, to what `write` gave back for it. */
export type AddToGroup<Item, Result> = (item: Item) => Promise<Result>;

/**
 * Gives back such a function. While one group is being written the next one gathers, so under load a transaction
 * carries many items, and a single item never waits for company.
 *
 * `write` gives back one result per item, in order; where it throws, every item of the group fails with that error.
 */
export function makeGroupWrites<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
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
      try {
        const results = await write(group.map(({ item }) => item));
        group.forEach(({ resolve }, index) => {
          resolve(results[index] as Result);
        });
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
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
