// Decides which alerts open and which are resolved: an alert opens when its cause has lasted long enough, and is
// resolved when the cause has been absent long enough. Pure: the ages come from the database's clock.

import type { Cause, Findings } from './rules.ts';
import { isAlertCode, RULES } from './rules.ts';

/** An alert that is not resolved. */
export interface KnownAlert {
  readonly id: number;
  readonly code: string;
  readonly resource: string | null;
  readonly is_open: boolean;
  /** Age of the first sight of its cause. */
  readonly noticed_seconds: number;
  /** For how long its cause has been absent; null while it is present. */
  readonly well_seconds: number | null;
}

export interface Decision {
  /** Causes seen for the first time. */
  readonly notice: readonly { readonly cause: Cause; readonly isToOpen: boolean }[];
  /** With the cause as it is now. */
  readonly open: readonly { readonly id: number; readonly cause: Cause }[];
  /** Their causes ended before the alerts opened: no message is sent. */
  readonly forget: readonly number[];
  /** Open, with a cause that is absent for the first time. */
  readonly markWell: readonly number[];
  /** Open, with a cause that came back before they were resolved. */
  readonly markWrong: readonly number[];
  readonly resolve: readonly number[];
}

export function decide(known: readonly KnownAlert[], { causes, isUndecided }: Findings): Decision {
  const decision = {
    notice: [] as { cause: Cause; isToOpen: boolean }[],
    open: [] as { id: number; cause: Cause }[],
    forget: [] as number[],
    markWell: [] as number[],
    markWrong: [] as number[],
    resolve: [] as number[],
  };
  for (const cause of causes) {
    const alert = known.find((one) => isSame(one, cause));
    const { opensAfterSeconds } = RULES[cause.code];
    if (alert === undefined) decision.notice.push({ cause, isToOpen: opensAfterSeconds === 0 });
    else if (alert.is_open && alert.well_seconds !== null) decision.markWrong.push(alert.id);
    else if (!alert.is_open && alert.noticed_seconds >= opensAfterSeconds) {
      decision.open.push({ id: alert.id, cause });
    }
  }
  for (const alert of known) {
    const { id, code, resource } = alert;
    // An alert that a newer version noticed is left to that version.
    if (!isAlertCode(code) || causes.some((cause) => isSame(alert, cause))) continue;
    if (isUndecided(code, resource)) continue;
    const { closesAfterSeconds } = RULES[code];
    if (!alert.is_open) decision.forget.push(id);
    else if ((alert.well_seconds ?? 0) >= closesAfterSeconds) decision.resolve.push(id);
    else if (alert.well_seconds === null) decision.markWell.push(id);
  }
  return decision;
}

function isSame(alert: Pick<Cause, 'resource'> & { readonly code: string }, cause: Cause): boolean {
  return alert.code === cause.code && alert.resource === cause.resource;
}
