// Says which of the optional lists the program has, and what follows from that.

import type { OptionalList } from '../../config/optional-lists.ts';
import { counted, formatTimestamp } from '../../contract/format.ts';
import { RESOURCES } from '../../contract/resources.ts';
import type { CommissionListStatus } from '../../reports/read-commission-list.ts';
import type { OptionalListStatus } from '../../reports/read-optional-lists.ts';

/** Returns what the command `doctor` says of a list, which has just asked for it and was answered. */
export function describeFoundList(
  list: OptionalList,
  { isUsed, setting }: { isUsed: boolean; setting: string },
): string {
  const follows = whatFollows(list, isUsed);
  if (setting !== 'auto') return `${byConfiguration(isUsed)}: ${follows}`;
  return `${isUsed ? 'listed' : 'not listed, as the contract has it'}: ${follows}`;
}

/** Returns lines for the command `status`. */
export function describeLists(
  lists: readonly OptionalListStatus[],
  { differences }: CommissionListStatus,
): string[] {
  return [
    ...lists.flatMap(describeListStatus),
    ...(differences === null ? [] : [`commissions: ${describeSums(differences)}`]),
  ];
}

function describeListStatus({ resource, ...list }: OptionalListStatus): string[] {
  const { problem, asked_at } = list;
  const lines = [describeList({ resource, ...list })];
  if (problem !== null && asked_at !== null) {
    const when = formatTimestamp(asked_at);
    lines.push(`${resource}: asked last at ${when}, without an answer that says so: ${problem}`);
  }
  return lines;
}

function describeSums(differences: number): string {
  if (differences === 0) return "their sums are the program's own";
  return `not the program's own: ${counted(differences, 'sum')} of affiliates by currency, see the view commission_differences`;
}

/** Returns whether the program has the list, and what follows from that. */
export function describeList({
  resource,
  setting,
  is_served,
  is_used,
  found_at,
}: OptionalListStatus): string {
  const follows = whatFollows(resource, is_used);
  if (setting !== 'auto') return `${resource}: ${byConfiguration(is_used)}: ${follows}`;
  if (is_served === null || found_at === null) {
    return `${resource}: it is not known yet whether the program lists them (sync, doctor and a worker ask): ${follows}`;
  }
  const says = is_served
    ? 'the program lists them'
    : `the program does not list them (404 for GET ${RESOURCES[resource].path})`;
  return `${resource}: ${says}, asked at ${formatTimestamp(found_at)}: ${follows}`;
}

function byConfiguration(isUsed: boolean): string {
  return `OPTIONAL_LISTS ${isUsed ? 'names them' : 'leaves them out'}`;
}

function whatFollows(resource: OptionalList, isUsed: boolean): string {
  return isUsed ? 'a sync reads all of them' : RESOURCES[resource].unlisted;
}
