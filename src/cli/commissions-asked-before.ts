// Says which rows were asked for before, and of those that somebody must look at what to do.

import type { RequestedUpdate } from '../commissions/request-updates.ts';
import { BAD_STATES } from '../commissions/update-request.ts';
import { formatCount } from '../contract/format.ts';
import { askAnew } from './commissions-listings.ts';
import { printError } from './print.ts';

/**
 * Returns whether a row was asked for before, and the program does not have what it asks for; names those rows on
 * stderr. `requested` has one for each of the rows.
 */
export function reportAskedBefore(
  rows: readonly { readonly line: number | null; readonly hasOwnKey: boolean }[],
  requested: readonly RequestedUpdate[],
): boolean {
  const before = requested.filter(({ isNew }) => !isNew);
  if (before.length === 0) return false;
  printError(
    `${formatCount(before.length)} of ${formatCount(rows.length)} were asked for before: not queued again`,
  );
  let isWorrying = false;
  requested.forEach((request, index) => {
    if (request.isNew) return;
    const row = rows[index];
    const where = row === undefined || row.line === null ? '' : `line ${row.line}: `;
    const hint = askAnew(row?.hasOwnKey === true);
    if (request.overtaken_by !== null) {
      isWorrying = true;
      printError(
        `${where}request ${request.id} asked for this and ended as ${request.state}, but request ${request.overtaken_by} came later: ${hint}`,
      );
    } else if (BAD_STATES.includes(request.state)) {
      isWorrying = true;
      printError(
        `${where}request ${request.id} asked for this and ended as ${request.state} (${request.outcome}): ${
          request.state === 'failed' ? `affiliate-mirror commissions retry ${request.id}` : hint
        }`,
      );
    }
  });
  return isWorrying;
}
