// Warnings of something that fails many times a second while a server is away. Knows no server.

import { describeError } from '../errors.ts';
import type { Logger } from '../log.ts';

/** The same trouble is told of once in this time. */
const QUIET_MS = 60_000;

/** Gives back a function that logs an error, unless one with the same text was logged a moment ago. */
export function makeQuietWarning({ log }: { log: Logger }, event: string): (error: unknown) => void {
  const lastToldMs = new Map<string, number>();
  return (error) => {
    const reason = describeError(error);
    const nowMs = performance.now();
    if (nowMs - (lastToldMs.get(reason) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    for (const [told, atMs] of lastToldMs) if (nowMs - atMs >= QUIET_MS) lastToldMs.delete(told);
    lastToldMs.set(reason, nowMs);
    log.warn({ reason }, event);
  };
}
