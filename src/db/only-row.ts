// The row of a statement that always returns one: an aggregate, a call of a function, a table of one row.

/** Returns it. Throws: TypeError where there is none, naming `what` was asked for. */
export function onlyRow<T>({ rows }: { readonly rows: readonly T[] }, what: string): T {
  const [row] = rows;
  if (row === undefined) throw new TypeError(`${what}: no row, where there is always one`);
  return row;
}
