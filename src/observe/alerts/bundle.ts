// Makes one message of the alerts of several programs that have one cause: an API that is away, or a queue. Pure.

import { createHash } from 'node:crypto';
import type { ClaimedNotice, DueNotice, PendingNotice } from './outbox.ts';

/**
 * Returns the messages of one channel in the order in which they are sent; each is of one cause, with at most one alert
 * of a program. Those that were tried as one stay one, so that a receiver recognises what it has by its key. The lists
 * are of one program each, in order: what comes after a message that is not due waits for it.
 */
export function bundle(programs: readonly (readonly DueNotice[])[]): readonly (readonly DueNotice[])[] {
  const lists = programs.map((notices) => [...untilNotDue(notices)]);
  const bundles: DueNotice[][] = [];
  for (let head = headOf(lists); head !== undefined; head = headOf(lists)) {
    const cause = causeOf(head);
    bundles.push(lists.flatMap((list) => takeFirst(list, cause)));
  }
  return bundles;
}

function headOf(lists: readonly (readonly DueNotice[])[]): DueNotice | undefined {
  return lists.find((list) => list.length > 0)?.[0];
}

function untilNotDue<Notice extends PendingNotice>(notices: readonly Notice[]): readonly Notice[] {
  const end = notices.findIndex(({ is_due }) => !is_due);
  return end === -1 ? notices : notices.slice(0, end);
}

/** Takes it out of the list, unless an earlier message of the same alert is in it. */
function takeFirst(list: DueNotice[], cause: string): DueNotice[] {
  const place = list.findIndex((notice) => causeOf(notice) === cause);
  const alert = list[place]?.alert_id;
  if (place === -1 || list.slice(0, place).some(({ alert_id }) => alert_id === alert)) return [];
  return list.splice(place, 1);
}

function causeOf({ kind, code, resource, error_code, tried }: PendingNotice): string {
  return JSON.stringify([kind, code, resource, error_code, tried]);
}

/** Returns the key of the message about these alerts: the same for the same alerts, in any order. */
export function keyOf(notices: readonly Pick<ClaimedNotice, 'uid'>[], kind: ClaimedNotice['kind']): string {
  const [first, ...others] = notices.map(({ uid }) => uid).toSorted();
  if (others.length === 0) return `${first}.${kind}`;
  const digest = createHash('sha256')
    .update([first, ...others].join(' '))
    .digest('hex');
  return `${digest.slice(0, 32)}.${kind}`;
}
