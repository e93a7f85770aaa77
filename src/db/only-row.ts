// The row of a statement that always returns one: an aggregate, a call of a function, a table of one row.

/** Throws: TypeError with `what` if there is none. */
export function onlyRow<T>({ rows }: { readonly rows: readonly T[] }, what: string): T {
  const [row] = rows;
  if (row === undefined) throw new TypeError(`${what}: no row, where there is always one`);
  return row;
}
