// Rows that were observed in the future: the clock of Postgres was ahead then, and was put back since. When that was is
// unknown, and what is read now is newer: compared by their times, nothing would reach these rows until the old time
// has come, while every run that reads them is verified.

/** Returns the condition, in SQL, that the row was. The row's table or alias is named. */
export function wasObservedInFuture(row: string): string {
  // Asked anew for each row, once it is locked: another load may have observed it since the statement began.
  return `${row}._observed_at > clock_timestamp()`;
}
