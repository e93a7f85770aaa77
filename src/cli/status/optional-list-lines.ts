// Says which of the optional lists the program has, and what follows from that.

import { counted, formatTimestamp } from '../../contract/format.ts';
import { RESOURCES } from '../../contract/resources.ts';
import type { OptionalListStatus } from '../../reports/read-optional-lists.ts';

/** Returns lines for the command `status`. */
export function describeLists(lists: readonly OptionalListStatus[], differences: number | null): string[] {
  const said = lists.flatMap((list) => {
    const { resource, problem, asked_at } = list;
    const line = `${resource}: ${describeList(list)}`;
    if (problem === null || asked_at === null) return [line];
    const when = formatTimestamp(asked_at);
    return [line, `${resource}: asked last at ${when}, without an answer that says so: ${problem}`];
  });
  return differences === null ? said : [...said, `commissions: ${describeSums(differences)}`];
}

function describeSums(differences: number): string {
  if (differences === 0) return "their sums are the program's own";
  return `not the program's own: ${counted(differences, 'sum')} of affiliates by currency, see the view commission_differences`;
}

/** Returns whether the program has the list, and what follows from that. */
export function describeList(list: OptionalListStatus): string {
  const { path, unlisted } = RESOURCES[list.resource];
  const follows = list.is_used ? 'a sync reads all of them' : unlisted;
  if (list.setting !== 'auto') {
    return `OPTIONAL_LISTS ${list.is_used ? 'names them' : 'leaves them out'}: ${follows}`;
  }
  if (list.is_served === null || list.found_at === null) {
    return `it is not known yet whether the program lists them (sync, doctor and a worker ask): ${follows}`;
  }
  const says = list.is_served
    ? 'the program lists them'
    : `the program does not list them (404 for GET ${path})`;
  return `${says}, asked at ${formatTimestamp(list.found_at)}: ${follows}`;
}
