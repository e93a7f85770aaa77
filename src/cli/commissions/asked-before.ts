// Says which rows were asked for before, and of those that somebody must look at what to do.

import type { EarlierRequest } from '../../commissions/requests/request-updates.ts';
import { UNMET_STATES } from '../../commissions/update-request.ts';
import { formatCount } from '../../contract/format.ts';
import { printError } from '../output/print.ts';
import { askAnew, describeWayOn } from './listings.ts';

/**
 * Returns whether a row was asked for before, and the program does not have what it asks for; names those rows on
 * stderr. `requested` has one for each of the rows: null where it was not asked for before.
 */
export function reportAskedBefore(
  rows: readonly { readonly line: number | null; readonly hasOwnKey: boolean }[],
  requested: readonly (Pick<EarlierRequest, 'id' | 'state' | 'outcome' | 'overtaken_by'> | null)[],
): boolean {
  const before = requested.filter((request) => request !== null).length;
  if (before === 0) return false;
  const was = before === 1 ? 'was' : 'were';
  printError(
    `${formatCount(before)} of ${formatCount(rows.length)} ${was} asked for before: not queued again`,
  );
  let isWorrying = false;
  requested.forEach((request, index) => {
    if (request === null) return;
    const row = rows[index];
    const where = row === undefined || row.line === null ? '' : `line ${row.line}: `;
    const hasOwnKey = row?.hasOwnKey === true;
    const { id, state, outcome, overtaken_by } = request;
    if (overtaken_by !== null) {
      isWorrying = true;
      printError(
        `${where}request ${id} asked for this and ${state === 'pending' ? 'still waits' : `ended as ${state}`}, but request ${overtaken_by} came later: ${askAnew(hasOwnKey)}`,
      );
    } else if (UNMET_STATES.includes(state)) {
      isWorrying = true;
      printError(
        `${where}request ${id} asked for this and ended as ${state} (${outcome}): ${describeWayOn(id, state, hasOwnKey)}`,
      );
    }
  });
  return isWorrying;
}
