// Sends one HTTP request and returns its outcome as data, within limits of time and size. answer.ts knows the meaning
// of a status, retry.ts whether to retry.

import { isUtf8 } from 'node:buffer';
import type { Dispatcher } from 'undici';
import { describeError, describeTls, NO_TLS, networkCode } from '../base/describe-error.ts';
import type { AnswerHeaders } from './rate-limit-headers.ts';
import type { Scrub } from './scrub.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  /** Without the question mark; empty if there is none. */
  readonly query: string;
  /** Form-encoded; null if there is none. */
  readonly body: string | null;
}

/** A complete body, which is UTF-8, or why it cannot be used. */
export type AnswerBody =
  | { readonly kind: 'text'; readonly bytes: Buffer }
  | { readonly kind: 'broken-off' | 'unreadable'; readonly reason: string };

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly body: AnswerBody;
      /** By this machine's clock: when the request began to leave, and when the answer's headers were there. */
      readonly sentAtMs: number;
      readonly headersAtMs: number;
    }
  | {
      readonly kind: 'unanswered';
      /** False if no byte of the request can have left. */
      readonly isSent: boolean;
      /** Whether no API seems to be at the address at all. */
      readonly isNothingThere: boolean;
      readonly reason: string;
    };

/** The request was no longer allowed to be sent, and was not. */
export interface Withheld {
  readonly kind: 'withheld';
}

export interface Wire {
  readonly dispatcher: Dispatcher;
  /** Scheme, host and port of the API. */
  readonly origin: string;
  /** Put before every path: the base address may have a path itself. */
  readonly pathPrefix: string;
  readonly authorization: string;
  /** For connecting, the headers and the whole body together. */
  readonly timeoutMs: number;
  readonly scrub: Scrub;
}

/**
 * A full page of the largest records (100 referrals with their affiliates) is about 120 KB; more than a hundred
 * times that cannot be a page, and reading on would only fill the memory.
 */
const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

/** Unknown names, closed ports, and a server without TLS. */
const NOTHING_THERE = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', NO_TLS]);

/**
 * Returns the outcome of one request; redirects are answers like any other. `mayLeave` is called immediately before
 * the first byte is written, after everything that takes time (connecting above all).
 *
 * Throws: the signal's reason when aborted.
 * Network errors are data, without the error object: undici's may carry raw bytes of the answer, which may
 * echo the secret.
 */
export async function sendRequest(
  wire: Wire,
  request: ApiRequest,
  mayLeave: () => boolean,
  signal?: AbortSignal,
): Promise<Outcome | Withheld> {
  signal?.throwIfAborted();
  const exchange = startExchange(wire, request, mayLeave);
  const onAbort = () => exchange.stop(signal?.reason);
  const onTimeout = () => exchange.stop(new Error(`not complete within ${wire.timeoutMs} ms`));
  const timer = setTimeout(onTimeout, wire.timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const outcome = await exchange.outcome;
    signal?.throwIfAborted();
    return outcome;
  } catch (error) {
    if (exchange.isWithheld()) return { kind: 'withheld' };
    signal?.throwIfAborted();
    return {
      kind: 'unanswered',
      isSent: exchange.isSent(),
      isNothingThere: NOTHING_THERE.has(networkCode(error)),
      reason: wire.scrub(describeTls(networkCode(error)) ?? describeError(error)),
    };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

interface Exchange {
  /** Rejects if no answer began. */
  readonly outcome: Promise<Outcome>;
  /** False until the first byte is about to be written: all before it is connecting. */
  isSent(): boolean;
  isWithheld(): boolean;
  stop(reason: unknown): void;
}

// Uses undici's own events, since a stream for each body would take as long again as parsing it.
function startExchange(wire: Wire, request: ApiRequest, mayLeave: () => boolean): Exchange {
  const { promise: outcome, resolve, reject } = Promise.withResolvers<Outcome>();
  let controller: Dispatcher.DispatchController | null = null;
  let stopped: { reason: unknown } | null = null;
  let isWithheld = false;
  let sentAtMs = 0;
  let head: { status: number; headers: AnswerHeaders; headersAtMs: number } | null = null;
  const chunks: Buffer[] = [];
  let size = 0;
  const answer = (body: AnswerBody) => {
    if (head !== null) resolve({ kind: 'answered', ...head, sentAtMs, body });
  };
  const abort = (started: Dispatcher.DispatchController, reason: unknown) =>
    started.abort(reason instanceof Error ? reason : new Error(describeError(reason)));
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      if (stopped !== null) return abort(started, stopped.reason);
      isWithheld = !mayLeave();
      // undici writes in the same turn of the event loop, right after this, unless the request is aborted here.
      if (isWithheld) return abort(started, 'withheld');
      controller = started;
      sentAtMs = Date.now();
    },
    onResponseStart(_, status, headers) {
      // Statuses below 200 only announce the answer.
      if (status >= 200) head = { status, headers, headersAtMs: Date.now() };
    },
    onResponseData(started, chunk) {
      size += chunk.length;
      if (size <= LARGEST_BODY_BYTES) chunks.push(chunk);
      else {
        answer({ kind: 'unreadable', reason: `a body of more than ${LARGEST_BODY_BYTES} bytes` });
        started.abort(new Error('the body is too large'));
      }
    },
    onResponseEnd: () => answer(decode(Buffer.concat(chunks, size))),
    onResponseError(_, error) {
      if (head === null) reject(error);
      else answer({ kind: 'broken-off', reason: wire.scrub(describeError(error)) });
    },
  };
  try {
    wire.dispatcher.dispatch(dispatchOptions(wire, request), handler);
  } catch (error) {
    reject(error);
  }
  return {
    outcome,
    isSent: () => controller !== null,
    isWithheld: () => isWithheld,
    stop(reason) {
      if (controller !== null) abort(controller, reason);
      else {
        // undici would go on waiting for the connection.
        stopped = { reason };
        reject(reason);
      }
    },
  };
}

function dispatchOptions(wire: Wire, { method, path, query, body }: ApiRequest): Dispatcher.DispatchOptions {
  return {
    origin: wire.origin,
    method,
    path: `${wire.pathPrefix}${path}${query === '' ? '' : `?${query}`}`,
    body,
    headers: {
      authorization: wire.authorization,
      accept: 'application/json',
      // Answers are not decompressed here, and without this header a server may choose a coding itself.
      'accept-encoding': 'identity',
      'user-agent': 'affiliate-mirror',
      // See answer-age.ts.
      ...(method === 'GET' && { 'cache-control': 'no-cache' }),
      ...(body !== null && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
  };
}

function decode(bytes: Buffer): AnswerBody {
  // Replacing bytes that are not UTF-8 would store damaged names.
  return isUtf8(bytes) ? { kind: 'text', bytes } : { kind: 'unreadable', reason: 'bytes that are no UTF-8' };
}
