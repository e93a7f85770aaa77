// Reads all rows of a table, so many at a time.

/**
 * Yields batches of `limit` rows, and a last one that is shorter. `read` returns the rows after an identifier, in the
 * order of identifiers; `first` is before all of them.
 */
export async function* inBatches<Id, Row extends { readonly id: Id }>(
  { first, limit }: { first: Id; limit: number },
  read: (after: Id) => Promise<{ readonly rows: readonly Row[] }>,
): AsyncGenerator<readonly Row[]> {
  for (let after = first; ; ) {
    const { rows } = await read(after);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = last.id;
  }
}
