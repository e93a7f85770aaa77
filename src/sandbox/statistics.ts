// What a program counts of the requests at its address, for tests of many programs and GET /statistics.

import type { RateLimit } from '../config/program/rate-limit.ts';

export interface Statistics {
  /** With the program's secret, whether refused by the limit, spoiled or answered. */
  readonly requests: number;
  /** Of those, beyond the limit. */
  readonly rateLimited: number;
  /** The most of them in any window of the present limit, refused ones included; 0 without a limit. */
  readonly mostInWindow: number;
  /** Answered 401, with the secret of another program. */
  readonly foreignSecrets: number;
  /** Answered 401, with any other secret or none. */
  readonly wrongSecrets: number;
}

export interface Counting {
  read(): Statistics;
  refused(secret: 'another' | 'unknown'): void;
  /** `atMs` never decreases. */
  received(atMs: number, isAllowed: boolean): void;
  /** Windows are counted anew. */
  setLimit(limit: RateLimit): void;
}

export function makeCounting(limit: RateLimit): Counting {
  const counts = { requests: 0, rateLimited: 0, mostInWindow: 0, foreignSecrets: 0, wrongSecrets: 0 };
  let windowMs = 0;
  let recent: number[] = [];
  const setLimit = (next: RateLimit) => {
    windowMs = (next?.windowSeconds ?? 0) * 1000;
    recent = [];
    counts.mostInWindow = 0;
  };
  setLimit(limit);
  return {
    read: () => ({ ...counts }),
    refused(secret) {
      if (secret === 'another') counts.foreignSecrets += 1;
      else counts.wrongSecrets += 1;
    },
    received(atMs, isAllowed) {
      counts.requests += 1;
      if (!isAllowed) counts.rateLimited += 1;
      if (windowMs === 0) return;
      recent = recent.filter((moment) => moment > atMs - windowMs);
      recent.push(atMs);
      counts.mostInWindow = Math.max(counts.mostInWindow, recent.length);
    },
    setLimit,
  };
}
