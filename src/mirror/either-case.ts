// The payment ledger and the tracked commissions have identifiers in lower case, the mirror as the program spells them:
// a UUID all in lower case or all in capitals. Both are looked up by primary key.

/** Returns the condition, in SQL, that the column of the mirror holds the identifier, which is in lower case. */
export function isInEitherCase(column: string, lowerCase: string): string {
  return `${column} in (${lowerCase}, upper(${lowerCase}))`;
}

/**
 * Returns, in SQL, a commission's identifier as the mirror has it, which is in lower case where it has none: the paths
 * of a program may tell the one case from the other.
 */
export function asMirrored(lowerCase: string): string {
  return `coalesce((
    select mirrored.id from commissions mirrored
    where ${isInEitherCase('mirrored.id', lowerCase)} order by mirrored._deleted_at is not null limit 1
  ), ${lowerCase})`;
}
