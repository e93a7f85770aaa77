// Names the requests whose date is far from now. The program takes any (contract, Update commission), so that a year
// with a wrong digit would go through, and be seen only when somebody looks for the payment.

import type { UpdateRequest } from '../../commissions/update-request.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import { nameFirst } from './name-first.ts';

/** Half a year: in January, whoever writes the year before is found too. */
const FAR_MS = 183 * 86_400_000;

/**
 * Returns a warning that names the first of them, with the line or else the commission; null where no date is far from
 * `nowMs` (milliseconds since 1970).
 */
export function describeFarDates(
  rows: readonly { readonly line: number | null; readonly request: UpdateRequest }[],
  nowMs: number,
): string | null {
  const far = rows.flatMap(({ line, request }) => {
    const at = request.paid_at ?? request.due_at;
    if (at === null || Math.abs(Date.parse(at) - nowMs) <= FAR_MS) return [];
    const where = line === null ? request.commission_id : `line ${line}`;
    return [`${where} (${spellTimestamp(at)})`];
  });
  if (far.length === 0) return null;
  return `dated more than half a year from now, so make sure of the year: ${nameFirst(far)}`;
}
