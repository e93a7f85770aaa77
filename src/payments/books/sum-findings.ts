// Sums what the books and the affiliate program have as paid, by currency and finding. Pure.

/** What one comparison adds to the sums of its currency and finding. */
export interface Summand<Finding> {
  readonly currency: string;
  readonly finding: Finding;
  /** Null if the books name no amount. */
  readonly booksPaid: number | null;
  readonly programPaid: number;
}

export interface FindingTotal<Finding> {
  readonly currency: string;
  readonly finding: Finding;
  readonly count: number;
  /** Paid amounts, in the unit of commissions.amount. Null if the books do not name each. */
  readonly books_paid: bigint | null;
  readonly program_paid: bigint;
  readonly difference: bigint | null;
}

/** Returns the sums by currency and finding, in the order of the findings. */
export function sumFindings<Finding extends string>(
  summands: readonly Summand<Finding>[],
  order: readonly Finding[],
): FindingTotal<Finding>[] {
  const groups = Map.groupBy(summands, ({ currency, finding }) => `${currency} ${finding}`);
  const totals = [...groups.values()].flatMap((of): FindingTotal<Finding>[] => {
    const [first] = of;
    if (first === undefined) return [];
    const { currency, finding } = first;
    const books = of.flatMap(({ booksPaid }) => booksPaid ?? []);
    const books_paid = books.length === of.length ? sum(books) : null;
    const program_paid = sum(of.map(({ programPaid }) => programPaid));
    const difference = books_paid === null ? null : program_paid - books_paid;
    return [{ currency, finding, count: of.length, books_paid, program_paid, difference }];
  });
  return totals.sort(
    (a, b) => a.currency.localeCompare(b.currency) || order.indexOf(a.finding) - order.indexOf(b.finding),
  );
}

function sum(amounts: readonly number[]): bigint {
  return amounts.reduce((total, amount) => total + BigInt(amount), 0n);
}
