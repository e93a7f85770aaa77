// The request budget of one process, in memory: exact within it. Whoever shares an account among several processes
// passes the client a budget of their own (see TakePermit in src/api/permit.ts).
//
// It keeps the same rules as the one in Postgres (src/budget/shared-budget.ts and the functions of its migration), with
// one priority: a permit counts from the moment that it is granted until one window after its answer. That of a request
// that got none counts until one window after the longest time that the request may take: what was given up may still
// be on its way to the program. What an answer says of the limit is believed until the reset that it names. After a
// pause one request asks first.

import type { AnsweredLimits, Permit, TakePermit } from '../api/permit.ts';
import { LONGEST_PAUSE_MS } from '../api/rate-limit-headers.ts';
import type { RateLimit } from '../config/rate-limit.ts';
import { ConfigError } from '../errors.ts';
import { sleep } from '../sleep.ts';

/** Whoever waits looks again after this long at most: a permit may have been returned unused. */
const LOOK_AGAIN_MS = 250;
/** How long a pause lasts whose end a 429 does not name, where there is no window. */
const DEFAULT_PAUSE_MS = 30_000;
/** How long a request may take where nobody says it. */
export const USUAL_TIMEOUT_MS = 30_000;

interface Held {
  readonly grantedMs: number;
  /** Infinite while the request is in flight. */
  freeMs: number;
}

/**
 * Returns a budget of at most `requests` in any window of `windowSeconds`; with null only the pauses are kept that the
 * program asks for. Clients of one account that are passed the same budget share it.
 *
 * ```ts
 * import { createBudget, createClient } from 'affiliate-mirror/client';
 *
 * const budget = createBudget({ requests: 45, windowSeconds: 30 });
 * const account = {
 *   url: 'https://api.example.com',
 *   secret: process.env.AFFILIATE_API_SECRET ?? '',
 *   budget,
 * };
 * await using reader = createClient(account);
 * await using payer = createClient(account);
 * const [first] = await Array.fromAsync(reader.affiliates.list());
 * const commission = await payer.commissions.get('0b9a3a55-0c53-4d2e-9a53-6f3f5ea7d8c1');
 * console.log(first?.email, commission.paid_at);
 * ```
 *
 * Throws: ConfigError where the limit is none; from the returned function, the signal's reason when aborted.
 */
export function createBudget(rateLimit: RateLimit): TakePermit {
  const problems = findLimitProblems(rateLimit);
  if (problems.length > 0) throw new ConfigError(problems);
  const ask = makeAsk(rateLimit);
  return async (signal, timeoutMs = USUAL_TIMEOUT_MS) => {
    for (;;) {
      signal?.throwIfAborted();
      const answer = ask(timeoutMs);
      if (!('waitMs' in answer)) return answer;
      await sleep(answer.waitMs, signal);
    }
  };
}

/** What is believed until a moment. */
interface Passing {
  readonly requests: number;
  readonly untilMs: number;
}

/** Returns the function that returns a permit, or how long to wait before asking again. */
function makeAsk(rateLimit: RateLimit): (timeoutMs: number) => Permit | { readonly waitMs: number } {
  const configured = rateLimit?.requests ?? Number.POSITIVE_INFINITY;
  const windowMs = (rateLimit?.windowSeconds ?? 0) * 1000;
  const defaultPauseMs = rateLimit === null ? DEFAULT_PAUSE_MS : Math.min(windowMs, LONGEST_PAUSE_MS);
  const held = new Set<Held>();
  let pausedUntilMs = 0;
  // From a pause on, until the first request after it is answered.
  let asksAlone = false;
  /** The limit that answers name, where it is lower than the configured one. */
  let named: Passing = { requests: configured, untilMs: 0 };
  /** What others use of the account. */
  let foreign: Passing = { requests: 0, untilMs: 0 };

  function ask(timeoutMs: number): Permit | { readonly waitMs: number } {
    const nowMs = performance.now();
    if (pausedUntilMs > nowMs) return { waitMs: pausedUntilMs - nowMs };
    for (const one of held) if (one.freeMs <= nowMs) held.delete(one);
    const most = Math.min(configured, requestsAt(named, nowMs) ?? configured);
    const used = held.size + (requestsAt(foreign, nowMs) ?? 0);
    if (used < most && !isOneAsking()) return grant(nowMs, timeoutMs);
    const freedMs = [...held].map((one) => one.freeMs - nowMs);
    return { waitMs: Math.max(1, Math.min(LOOK_AGAIN_MS, ...freedMs)) };
  }

  /** Returns whether the request is in flight that asks first after a pause. */
  function isOneAsking(): boolean {
    return asksAlone && [...held].some((one) => isInFlight(one) && one.grantedMs >= pausedUntilMs);
  }

  function grant(grantedMs: number, timeoutMs: number): Permit {
    const permit: Held = { grantedMs, freeMs: Number.POSITIVE_INFINITY };
    held.add(permit);
    return {
      grantedAt: new Date().toISOString(),
      // It counts until it is returned, however long its process was stopped meanwhile.
      isUsable: () => true,
      async returnAnswered(limits) {
        const nowMs = performance.now();
        permit.freeMs = windowMs + (limits === null ? Math.max(nowMs, grantedMs + timeoutMs) : nowMs);
        if (limits !== null) learn(permit, limits, nowMs);
        return new Date().toISOString();
      },
      async returnUnused() {
        held.delete(permit);
      },
    };
  }

  function learn(own: Held, limits: AnsweredLimits, nowMs: number): void {
    const resetAtMs = nowMs + (limits.resetMs ?? defaultPauseMs);
    if (limits.throttled || limits.limit === 0) {
      pauseUntil(resetAtMs);
      return;
    }
    if (own.grantedMs >= pausedUntilMs) asksAlone = false;
    if (rateLimit === null || limits.limit === null) return;
    const isLower = limits.limit < configured;
    // At least a window: where it slides, the reset only says when the next request leaves it.
    named = { requests: limits.limit, untilMs: isLower ? Math.max(resetAtMs, nowMs + windowMs) : 0 };
    if (limits.remaining === null || limits.resetMs === null) return;
    leaveToOthers(own, Math.min(configured, limits.limit), limits.remaining, resetAtMs);
  }

  function pauseUntil(untilMs: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
    asksAlone = true;
  }

  // Fewer remain than we would send: somebody else uses the account, and their requests are left to them.
  function leaveToOthers(own: Held, most: number, remaining: number, resetAtMs: number): void {
    const ours = [...held].filter(({ freeMs }) => freeMs > own.grantedMs);
    const uncounted = ours.filter((one) => one !== own && (isInFlight(one) || one.grantedMs > own.grantedMs));
    const missing = most - ours.length - remaining;
    if (missing > 0 && remaining === 0) pauseUntil(resetAtMs);
    const known = requestsAt(foreign, performance.now()) ?? 0;
    const requests = Math.max(0, Math.min(Math.max(known, missing), missing + uncounted.length));
    foreign = { requests, untilMs: resetAtMs };
  }

  return ask;
}

function requestsAt({ requests, untilMs }: Passing, nowMs: number): number | null {
  return untilMs > nowMs ? requests : null;
}

/** Returns what is wrong with a limit from outside: where it is none, nothing would be granted, or everything. */
export function findLimitProblems(rateLimit: unknown): string[] {
  if (rateLimit === null) return [];
  const { requests, windowSeconds } = Object(rateLimit) as Record<string, unknown>;
  const problems: string[] = [];
  if (!(Number.isInteger(requests) && Number(requests) > 0)) {
    problems.push('rateLimit.requests must be a whole number from 1 on');
  }
  if (!(Number.isFinite(windowSeconds) && Number(windowSeconds) > 0)) {
    problems.push('rateLimit.windowSeconds must be a number of seconds above 0');
  }
  return problems;
}

function isInFlight({ freeMs }: Held): boolean {
  return freeMs === Number.POSITIVE_INFINITY;
}
