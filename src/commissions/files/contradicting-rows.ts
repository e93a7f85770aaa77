// Finds the rows of a payout file that contradict each other. One of them is a mistake, and nobody here can know which:
// so each of them is wrong, and the later ones alone where all ask for the same.

import { contentKey } from '../requests/content-key.ts';
import { quote } from '../timestamps.ts';
import type { Action, UpdateRequest } from '../update-request.ts';
import type { Problem } from './raw-table.ts';

type Value = 'paid_at' | 'due_at';

interface GoodRow {
  readonly line: number;
  readonly request: UpdateRequest;
}

/** Returns what is wrong with the rows beside each other. */
export function findRepeats(rows: readonly GoodRow[]): Problem[] {
  const ofValue = [...Map.groupBy(rows, placeOf).values()].flatMap((group) =>
    describeEach(group, asksForOne(group), ({ request }, other) => {
      return `the commission ${request.commission_id} gets its ${setBy(request.action)} on ${other}: keep one of the two`;
    }),
  );
  const ofKey = [...Map.groupBy(rows, ({ request }) => request.idempotency_key).values()].flatMap((group) =>
    asksForOne(group)
      ? []
      : describeEach(group, false, ({ request }, other) => {
          return `idempotency_key ${quote(request.idempotency_key ?? '')} is on ${other}`;
        }),
  );
  // One problem of these is enough for a row.
  return [...new Map([...ofKey, ...ofValue].map((one) => [one.line, one])).values()];
}

function asksForOne(group: readonly GoodRow[]): boolean {
  return new Set(group.map(({ request }) => contentKey(request))).size === 1;
}

/** Describes each row of the group beside the first one, and that one beside the second unless it may stay. */
function describeEach(
  group: readonly GoodRow[],
  mayFirstStay: boolean,
  describe: (row: GoodRow, other: string) => string,
): Problem[] {
  const [first, second] = group;
  if (first === undefined || second === undefined) return [];
  return group.slice(mayFirstStay ? 1 : 0).map((row) => {
    const other = row === first ? `line ${second.line} as well` : `line ${first.line} already`;
    return { line: row.line, problem: describe(row, other) };
  });
}

function placeOf({ request }: GoodRow): string {
  return `${request.commission_id} ${setBy(request.action)}`;
}

function setBy(action: Action): Value {
  return action === 'due' ? 'due_at' : 'paid_at';
}
