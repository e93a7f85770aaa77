// The request budget of one process, in memory. Processes that share an account pass their clients a budget of their
// own (see TakePermit in src/api/permit.ts).
//
// A permit counts from its grant until one window after its answer; without an answer, until one window after the
// timeout of its request, which may still be on its way to the API. Of answers it believes only a 429, after which all
// wait. The budget in Postgres (src/budget/shared-budget.ts) also leaves to other clients of the account what they use.

import type { Permit, TakePermit } from '../api/permit.ts';
import { LONGEST_PAUSE_MS } from '../api/rate-limit-headers.ts';
import { ConfigError } from '../base/errors.ts';
import { sleep } from '../base/sleep.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';

/** A waiting caller retries after this long at most: a permit may have been returned unused. */
const RETRY_MS = 250;
/** The pause after a 429 that names no end, if there is no window. */
const DEFAULT_PAUSE_MS = 30_000;
/** The default timeout of a request. */
export const USUAL_TIMEOUT_MS = 30_000;

/**
 * Returns a budget of at most `requests` in any window of `windowSeconds`; with null it only pauses when the API asks
 * for it. Clients with the same budget share it.
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
 * Throws: ConfigError if the limit is invalid; from the returned function, the signal's reason when aborted.
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

/** Returns the function that returns a permit, or how long to wait before asking again. */
function makeAsk(rateLimit: RateLimit): (timeoutMs: number) => Permit | { readonly waitMs: number } {
  const most = rateLimit?.requests ?? Number.POSITIVE_INFINITY;
  const windowMs = (rateLimit?.windowSeconds ?? 0) * 1000;
  const defaultPauseMs = rateLimit === null ? DEFAULT_PAUSE_MS : Math.min(windowMs, LONGEST_PAUSE_MS);
  /** When each permit that counts is free again; Infinity while its request is in flight. */
  const held = new Set<{ freeMs: number }>();
  let pausedUntilMs = 0;

  function grant(grantedMs: number, timeoutMs: number): Permit {
    const permit = { freeMs: Number.POSITIVE_INFINITY };
    held.add(permit);
    return {
      grantedAt: new Date().toISOString(),
      // It counts until it is returned, however long its process was stopped meanwhile.
      isUsable: () => true,
      async returnAnswered(limits) {
        const nowMs = performance.now();
        permit.freeMs = windowMs + (limits === null ? Math.max(nowMs, grantedMs + timeoutMs) : nowMs);
        if (limits?.throttled || limits?.limit === 0) {
          pausedUntilMs = Math.max(pausedUntilMs, nowMs + (limits.resetMs ?? defaultPauseMs));
        }
        return new Date().toISOString();
      },
      async returnUnused() {
        held.delete(permit);
      },
    };
  }

  return (timeoutMs) => {
    const nowMs = performance.now();
    if (pausedUntilMs > nowMs) return { waitMs: pausedUntilMs - nowMs };
    for (const one of held) if (one.freeMs <= nowMs) held.delete(one);
    if (held.size < most) return grant(nowMs, timeoutMs);
    const freedMs = [...held].map((one) => one.freeMs - nowMs);
    return { waitMs: Math.max(1, Math.min(RETRY_MS, ...freedMs)) };
  };
}

/** With an invalid limit, nothing would be granted, or everything. */
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
