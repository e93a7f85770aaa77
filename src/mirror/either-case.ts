// The payment ledger and the tracked commissions have identifiers in lower case, the mirror as the program spells them:
// a UUID all in lower case or all in capitals. Both are looked up by primary key.

/** Returns the condition, in SQL, that the column of the mirror holds the identifier, which is in lower case. */
export function isInEitherCase(column: string, lowerCase: string): string {
  return `${column} in (${lowerCase}, upper(${lowerCase}))`;
}
