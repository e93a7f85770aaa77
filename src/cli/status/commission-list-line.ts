// Says whether the program lists its commissions, and what follows from that.

import { counted, formatTimestamp } from '../../contract/format.ts';
import type { ListSetting } from '../../mirror/commission-list.ts';
import type { CommissionListStatus } from '../../reports/read-commission-list.ts';
import type { FoundList } from '../../sync/find-commission-list.ts';

/** Returns what the command `doctor` says, which has just asked and was answered. */
export function describeFoundList({ isUsed }: FoundList, setting: ListSetting): string {
  if (setting !== 'auto') return `COMMISSION_LIST is ${setting}: ${whatFollows(isUsed)}`;
  return isUsed
    ? `listed: ${whatFollows(isUsed)}`
    : `not listed, as the contract has it: ${whatFollows(isUsed)}`;
}

/** Returns lines for the command `status`. */
export function describeListStatus(list: CommissionListStatus): string[] {
  const lines = [describeList(list)];
  if (list.problem !== null && list.asked_at !== null) {
    lines.push(
      `asked last at ${formatTimestamp(list.asked_at)}, without an answer that says so: ${list.problem}`,
    );
  }
  if (list.differences === 0) lines.push("their sums are the program's own");
  else if (list.differences !== null) {
    lines.push(
      `not the program's own: ${counted(list.differences, 'sum')} of affiliates by currency, see the view commission_differences`,
    );
  }
  return lines;
}

/** Returns whether the program lists its commissions, and what follows from that. */
export function describeList({ setting, is_served, is_used, found_at }: CommissionListStatus): string {
  const follows = whatFollows(is_used);
  if (setting !== 'auto') return `COMMISSION_LIST is ${setting}: ${follows}`;
  if (is_served === null || found_at === null) {
    return `it is not known yet whether the program lists them (sync, doctor and a worker ask): ${follows}`;
  }
  const says = is_served
    ? 'the program lists them'
    : 'the program does not list them (404 for GET /v1/commissions)';
  return `${says}, asked at ${formatTimestamp(found_at)}: ${follows}`;
}

function whatFollows(isUsed: boolean): string {
  return isUsed ? 'a sync reads all of them' : 'known ones are read one by one';
}
