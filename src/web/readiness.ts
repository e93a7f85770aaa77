// Whether the worker can work: its checks, made once for everybody who asks meanwhile. Anybody may ask, without a
// password and as often as they like, and each round takes connections from those who work.

import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import { memoize } from '../memoize.ts';
import { within } from '../within.ts';

/** By name: resolves where all is well, and throws what is wrong. */
export type Checks = Readonly<Record<string, () => Promise<unknown>>>;

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** A check that takes longer has failed. */
const CHECK_TIMEOUT_MS = 6000;
/** Less than any orchestrator waits between two questions. */
const KEPT_MS = 1000;
/** A check that fails for the same reason as before is logged again after this time. */
const QUIET_MS = 60_000;

/** Returns the function that returns what the checks say, found no more than two seconds ago. It throws nothing. */
export function makeReadReadiness({
  log,
  checks,
}: {
  log: Logger;
  checks: Checks;
}): () => Promise<Readiness> {
  const runCheck = makeRunCheck(log);
  const runAll = async (): Promise<Readiness> => {
    const results = await Promise.all(Object.entries(checks).map(runCheck));
    return {
      isReady: results.every(([, result]) => result === 'ok'),
      checks: Object.fromEntries(results),
    };
  };
  return memoize(runAll, () => KEPT_MS);
}

// The reason is in the log only: an error may name hosts.
function makeRunCheck(log: Logger) {
  const logged = new Map<string, { readonly reason: string; readonly atMs: number }>();
  return async ([name, check]: [string, () => Promise<unknown>]): Promise<[string, 'ok' | 'failed']> => {
    try {
      await within(CHECK_TIMEOUT_MS, check());
      logged.delete(name);
      return [name, 'ok'];
    } catch (error) {
      const reason = describeError(error);
      const last = logged.get(name);
      const atMs = performance.now();
      if (last?.reason !== reason || atMs - last.atMs >= QUIET_MS) {
        logged.set(name, { reason, atMs });
        log.warn({ check: name, reason }, 'status.not_ready');
      }
      return [name, 'failed'];
    }
  };
}
