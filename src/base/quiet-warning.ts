// Logs a failure that repeats many times a second, as while a server is away, once a minute.

import { describeError } from './describe-error.ts';
import type { Logger } from './log.ts';

const QUIET_MS = 60_000;

export function makeQuietWarning({ log }: { log: Logger }, event: string): (error: unknown) => void {
  const lastLoggedMs = new Map<string, number>();
  return (error) => {
    const reason = describeError(error);
    const nowMs = performance.now();
    if (nowMs - (lastLoggedMs.get(reason) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    for (const [text, atMs] of lastLoggedMs) if (nowMs - atMs >= QUIET_MS) lastLoggedMs.delete(text);
    lastLoggedMs.set(reason, nowMs);
    log.warn({ reason }, event);
  };
}
