// One attempt: takes a permit of the budget, sends the request once, returns the permit, and logs it.

import { RequestWithheld } from '../base/errors.ts';
import { RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { isMaybeApplied, outcomeUnknown } from './answer.ts';
import type { Permit, TakePermit } from './permit.ts';
import { readRateLimitHeaders } from './rate-limit-headers.ts';
import type { RequestEvent, RequestLog, TraceRequest } from './request-event.ts';
import { type ApiRequest, type Outcome, sendRequest, type Wire, type Withheld } from './send-request.ts';

export interface AttemptDeps {
  /** Called before every attempt, so that retries count against the account's limit too. */
  readonly takePermit: TakePermit;
  readonly log: RequestLog;
  readonly onRequest?: (event: RequestEvent) => void;
  readonly traceRequest?: TraceRequest;
}

/**
 * Called before every attempt, after its permit is granted. Resolves to a function that is called immediately before
 * the first byte is written, and returns whether the request may be sent. If it rejects, nothing is sent, and the call
 * rejects with the same error.
 */
export type BeforeSend = () => Promise<() => boolean>;

export interface AttemptInput {
  readonly request: ApiRequest;
  readonly attempt: number;
  readonly beforeSend: BeforeSend | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface Attempted {
  readonly outcome: Outcome;
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
}

/**
 * Returns the outcome of one attempt; its permit is returned, once, before this returns or throws.
 *
 * Throws: RequestWithheld if the process was stopped for so long that the request may no longer be sent; the errors of
 * `beforeSend`; the signal's reason when aborted; the errors of the budget, as WriteOutcomeUnknown if a PUT may have
 * been applied.
 */
export async function attemptRequest(deps: AttemptDeps, wire: Wire, input: AttemptInput): Promise<Attempted> {
  const { request, signal } = input;
  const askedForAt = performance.now();
  const permit = await deps.takePermit(signal, wire.timeoutMs);
  const mayLeave = await prepare(permit, input.beforeSend);
  let hasLeft = false;
  const leave = () => {
    hasLeft = mayLeave();
    return hasLeft;
  };
  const startedAt = performance.now();
  let outcome: Outcome | Withheld;
  try {
    outcome = await trace(deps, input, startedAt - askedForAt, () =>
      sendRequest(wire, request, leave, signal),
    );
  } catch (error) {
    if (hasLeft) report(deps, input, startedAt, null);
    await (hasLeft ? permit.returnAnswered(null) : permit.returnUnused());
    throw error;
  }
  if (outcome.kind === 'withheld') {
    await permit.returnUnused();
    throw new RequestWithheld(
      `${request.method} ${request.path} was not sent: this process was stopped for too long`,
    );
  }
  report(deps, input, startedAt, outcome);
  if (outcome.kind === 'unanswered' && !outcome.isSent) {
    await permit.returnUnused();
    return { outcome, askedAt: permit.grantedAt, answeredAt: permit.grantedAt };
  }
  const limits =
    outcome.kind === 'answered' ? readRateLimitHeaders(outcome.status, outcome.headers, Date.now()) : null;
  try {
    return { outcome, askedAt: permit.grantedAt, answeredAt: await permit.returnAnswered(limits) };
  } catch (error) {
    throw isMaybeApplied(request, outcome) ? outcomeUnknown(request, error) : error;
  }
}

function trace(
  { traceRequest }: AttemptDeps,
  { request: { method, path }, attempt }: AttemptInput,
  waitedMs: number,
  send: () => Promise<Outcome | Withheld>,
): Promise<Outcome | Withheld> {
  if (traceRequest === undefined) return send();
  const route = path.replace(ID_OF_ONE, '$1{id}');
  return traceRequest({ method, route, attempt, waitedMs: Math.round(waitedMs) }, async (noteStatus) => {
    const outcome = await send();
    if (outcome.kind !== 'withheld') noteStatus(outcome.kind === 'answered' ? outcome.status : null);
    return outcome;
  });
}

const ID_OF_ONE = new RegExp(`^((?:${RESOURCES.commissions.path}|${RESOURCES.payouts.path})/)[^/]+`);

async function prepare(permit: Permit, beforeSend: BeforeSend | undefined): Promise<() => boolean> {
  if (beforeSend === undefined) return () => permit.isUsable();
  try {
    const mayLeave = await beforeSend();
    return () => permit.isUsable() && mayLeave();
  } catch (error) {
    await permit.returnUnused();
    throw error;
  }
}

function report(
  { log, onRequest }: AttemptDeps,
  { request: { method, path, query }, attempt }: AttemptInput,
  startedAt: number,
  outcome: Outcome | null,
): void {
  const durationMs = Math.round(performance.now() - startedAt);
  const status = outcome?.kind === 'answered' ? outcome.status : null;
  const reason = outcome === null ? 'given up by the caller' : failureOf(outcome);
  log.debug(
    { method, path, query: withoutPerson(query), status, ms: durationMs, attempt, reason },
    'api.request_sent',
  );
  onRequest?.({ method, path, status, durationMs, attempt });
}

// A filter may name a person, and a log is not the mirror: forget does not reach it.
function withoutPerson(query: string): string {
  return query.replace(/(^|&)(email|stripe_customer_id)=[^&]*/g, '$1$2=…');
}

function failureOf(outcome: Outcome): string | undefined {
  if (outcome.kind === 'unanswered') return outcome.reason;
  return outcome.body.kind === 'text' ? undefined : outcome.body.reason;
}
