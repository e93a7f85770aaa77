// Finds the rows of a payout file that contradict each other. One of them is a mistake, and nobody here can know which:
// so each of them is wrong.

import type { Action } from '../../contract/payment-request.ts';
import { quote } from '../timestamps.ts';
import type { UpdateRequest } from '../update-request.ts';
import type { Problem } from './raw-table.ts';

interface GoodRow {
  readonly line: number;
  readonly request: UpdateRequest;
  readonly hasOwnKey: boolean;
}

/** Returns what is wrong with the rows beside each other: one problem at most for each. */
export function findRepeats(rows: readonly GoodRow[]): Problem[] {
  const ofKey = describeEach(
    rows.filter(({ hasOwnKey }) => hasOwnKey),
    ({ idempotency_key }) => `idempotency_key ${quote(idempotency_key ?? '')} is`,
  );
  const ofValue = describeEach(
    rows,
    ({ commission_id, action }) => `the commission ${commission_id} gets its ${setBy(action)}`,
  );
  return [...new Map([...ofKey, ...ofValue].map((one) => [one.line, one])).values()];
}

/** Describes each of several rows for which `nameOf` is the same, each beside the first, and that beside the second. */
function describeEach(rows: readonly GoodRow[], nameOf: (request: UpdateRequest) => string): Problem[] {
  return [...Map.groupBy(rows, ({ request }) => nameOf(request))].flatMap(
    ([name, [first, second, ...more]]) => {
      if (first === undefined || second === undefined) return [];
      return [first, second, ...more].map(({ line }) => {
        const other = line === first.line ? second.line : first.line;
        return { line, problem: `${name} on line ${other} too: keep one of the two` };
      });
    },
  );
}

function setBy(action: Action): string {
  return action === 'due' ? 'due_at' : 'paid_at';
}
