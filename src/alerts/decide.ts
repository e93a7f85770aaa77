// What becomes of the alerts, given what is wrong now: one of them opens once its cause has held for long enough, and
// is resolved once it was well for long enough. Pure: how long, the database's clock says.

import { isAlertCode, RULES } from './causes.ts';
import type { Cause, Findings } from './find-causes.ts';

/** An alert that is not resolved. */
export interface KnownAlert {
  readonly id: number;
  readonly code: string;
  readonly resource: string | null;
  readonly is_open: boolean;
  /** How long ago it was first seen. */
  readonly noticed_seconds: number;
  /** For how long it was not seen any more; null while it is seen. */
  readonly well_seconds: number | null;
}

export interface Decision {
  /** First seen now; to be opened at once, or not yet. */
  readonly notice: readonly { readonly cause: Cause; readonly isToOpen: boolean }[];
  /** Seen for long enough, with what is wrong as it is now. */
  readonly open: readonly { readonly id: number; readonly cause: Cause }[];
  /** Gone before they were alerts: nobody has to know. */
  readonly forget: readonly number[];
  /** Open, and not seen for the first time now. */
  readonly markWell: readonly number[];
  /** Open, and seen again before they were resolved: the same cause. */
  readonly markWrong: readonly number[];
  readonly resolve: readonly number[];
}

/** Returns what to do. */
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
    // One that a newer version noticed is left to that.
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
