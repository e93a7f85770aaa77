// Says which rows come after requests that wait for the same value of their commissions, somebody else's most likely.

import type { WaitingRequest } from '../../commissions/requests/waiting-before.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import { printError } from '../output/print.ts';
import { nameFirst } from './name-first.ts';

/** Names the first of them on stderr. Returns whether there is one. `waiting` has one for each of the rows. */
export function reportWaitingBefore(
  rows: readonly { readonly line: number | null; readonly request: { readonly commission_id: string } }[],
  waiting: readonly (WaitingRequest | null)[],
): boolean {
  const named = rows.flatMap(({ line, request }, index) => {
    const before = waiting[index];
    if (before == null) return [];
    return [`${line === null ? request.commission_id : `line ${line}`} (${describe(before)})`];
  });
  if (named.length === 0) return false;
  printError(`another request waits for the same commission and is applied first: ${nameFirst(named)}`);
  return true;
}

function describe({ id, action, paid_at, due_at }: WaitingRequest): string {
  const at = paid_at ?? due_at;
  return `request ${id}: ${action}${at === null ? '' : ` ${spellTimestamp(at)}`}`;
}
