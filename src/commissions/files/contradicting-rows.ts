// Finds the rows of a payout file that contradict each other. One of them is a mistake, and nobody here can know which:
// so each of them is wrong, and the later ones alone where all ask for the same.

import { identifiersIn } from '../../contract/fields.ts';
import type { Action } from '../../contract/payment-request.ts';
import { contentKey } from '../requests/content-key.ts';
import { quote } from '../timestamps.ts';
import type { UpdateRequest } from '../update-request.ts';
import type { Problem } from './raw-table.ts';
import { findAction } from './read-cells.ts';
import type { TableFile } from './table-file.ts';

type Value = 'paid_at' | 'due_at';

interface GoodRow {
  readonly line: number;
  readonly request: UpdateRequest;
}

/** What a row that is wrong would set, as far as it can be read. */
export interface Claim {
  readonly line: number;
  readonly commission_id: string;
  readonly value: Value;
}

/** Returns what the rows of the file claim that are not among the good ones. */
export function findClaims(file: TableFile, good: readonly GoodRow[]): Claim[] {
  const goodLines = new Set(good.map(({ line }) => line));
  const named = new Map(file.lines.map(({ line, cells }) => [line, cells]));
  return file.rows.flatMap(({ line, cells }) => {
    if (goodLines.has(line)) return [];
    const ofRow = named.get(line);
    // Of a row that could not be taken apart, whatever looks like an identifier may be the commission's.
    const words = ofRow === undefined ? cells.map(String) : [ofRow.get('commission_id') ?? ''];
    const ids = words.flatMap(identifiersIn);
    return ids.flatMap((id) =>
      valuesOf(ofRow?.get('action')).map((value) => ({ line, commission_id: id.toLowerCase(), value })),
    );
  });
}

/** Returns what is wrong with the good rows beside each other, and beside what the others claim. */
export function findRepeats(rows: readonly GoodRow[], claims: readonly Claim[]): Problem[] {
  const claimed = new Map(claims.map((claim) => [`${claim.commission_id} ${claim.value}`, claim.line]));
  const besideWrong = rows.flatMap((row) => {
    const line = claimed.get(placeOf(row));
    const { commission_id } = row.request;
    const problem = `the commission ${commission_id} is on line ${line} as well, where something is wrong: correct that first`;
    return line === undefined ? [] : [{ line: row.line, problem }];
  });
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
  return [...new Map([...ofKey, ...ofValue, ...besideWrong].map((one) => [one.line, one])).values()];
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

/** Returns what the action sets; both where it cannot be read. */
function valuesOf(text: string | undefined): readonly Value[] {
  const action = findAction(text);
  return action === undefined ? ['paid_at', 'due_at'] : [setBy(action)];
}
