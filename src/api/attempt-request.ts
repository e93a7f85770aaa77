// One attempt: a slot of the budget, one exchange, a line in the log. Knows what a slot's life is tied to;
// refuses to know what the answer means.

import type { Logger } from '../log.ts';
import { isMaybeApplied, outcomeUnknown } from './answer.ts';
import { readRateLimitHeaders } from './rate-limit-headers.ts';
import { type ApiRequest, type Outcome, sendRequest, type Wire } from './send-request.ts';
import type { Instant, TakeSlot } from './slot.ts';

/** One request that was sent, or could not be; `status` is null where no answer came. */
export interface RequestEvent {
  readonly method: ApiRequest['method'];
  readonly path: string;
  readonly status: number | null;
  readonly durationMs: number;
  readonly attempt: number;
}

export interface AttemptDeps {
  /** Called before every attempt, so that repetitions count against the account's limit too. */
  readonly takeSlot: TakeSlot;
  readonly log: Logger;
  readonly onRequest?: (event: RequestEvent) => void;
}

export interface Attempted {
  readonly outcome: Outcome;
  readonly askedAt: Instant;
  readonly answeredAt: Instant;
}

/**
 * Gives back what became of one attempt; its slot is given back, once, before this returns or throws.
 *
 * Throws: the signal's reason when aborted; what the budget throws, as WriteOutcomeUnknown where that would hide
 * that a PUT may have been applied.
 */
export async function attemptRequest(
  deps: AttemptDeps,
  wire: Wire,
  request: ApiRequest,
  attempt: number,
  signal: AbortSignal | undefined,
): Promise<Attempted> {
  const slot = await deps.takeSlot(signal);
  const startedAt = performance.now();
  let outcome: Outcome;
  try {
    outcome = await sendRequest(wire, request, signal);
  } catch (error) {
    report(deps, request, attempt, startedAt, null);
    await slot.release(null);
    throw error;
  }
  report(deps, request, attempt, startedAt, outcome);
  const limits =
    outcome.kind === 'answered' ? readRateLimitHeaders(outcome.status, outcome.headers, Date.now()) : null;
  try {
    return { outcome, askedAt: slot.grantedAt, answeredAt: await slot.release(limits) };
  } catch (error) {
    throw isMaybeApplied(request, outcome) ? outcomeUnknown(request, error) : error;
  }
}

function report(
  { log, onRequest }: AttemptDeps,
  { method, path, query }: ApiRequest,
  attempt: number,
  startedAt: number,
  outcome: Outcome | null,
): void {
  const durationMs = Math.round(performance.now() - startedAt);
  const status = outcome?.kind === 'answered' ? outcome.status : null;
  const reason = outcome === null ? 'given up by the caller' : failureOf(outcome);
  log.debug({ method, path, query, status, ms: durationMs, attempt, reason }, 'api.request');
  onRequest?.({ method, path, status, durationMs, attempt });
}

function failureOf(outcome: Outcome): string | undefined {
  if (outcome.kind === 'unanswered') return outcome.reason;
  return outcome.body.kind === 'text' ? undefined : outcome.body.reason;
}
