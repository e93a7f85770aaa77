// One HTTP exchange: what was sent, and what became of it, as data. Knows sockets and limits of time and size;
// refuses to know what a status means or whether to try again.

import type { Dispatcher } from 'undici';
import { describeError } from '../errors.ts';
import type { AnswerHeaders } from './rate-limit-headers.ts';
import type { Scrub } from './scrub.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  /** Without the question mark; empty where there is none. */
  readonly query: string;
  /** Form-encoded; null where there is none. */
  readonly body: string | null;
}

/** A body that came whole, or why it cannot be used. */
export type AnswerBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'broken-off' | 'unreadable'; readonly reason: string };

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: AnswerHeaders;
      readonly body: AnswerBody;
    }
  /** `isSent` is false where no byte of the request can have left. */
  | { readonly kind: 'unanswered'; readonly isSent: boolean; readonly reason: string };

export interface Wire {
  readonly dispatcher: Dispatcher;
  /** Put before every path: the base address may have one of its own. */
  readonly pathPrefix: string;
  readonly authorization: string;
  /** For connecting, the head and the whole body together. */
  readonly timeoutMs: number;
  readonly scrub: Scrub;
}

/**
 * A full page of the largest records (100 referrals with their affiliates) is about 120 KB; more than a hundred
 * times that is no page of this program, and reading on would only fill the memory.
 */
const LARGEST_BODY_BYTES = 16 * 1024 * 1024;

/** Mistakes of the caller, not of the network: to be shown as they are. */
const MISUSE_CODES = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

/**
 * Gives back what became of one request; redirects are answers like any other.
 *
 * Throws: the signal's reason when aborted; an error of misuse (a bad argument, a closed client) as it is, unless
 * a PUT may have left already.
 * Network errors are data, without the error object: undici's may carry raw bytes of the answer, which may
 * echo the secret.
 */
export async function sendRequest(wire: Wire, request: ApiRequest, signal?: AbortSignal): Promise<Outcome> {
  signal?.throwIfAborted();
  const cut = new AbortController();
  const connecting = Promise.withResolvers<never>();
  let isSent = false;
  // undici heeds a signal only once a connection stands; until then the wait for it is cut short here.
  const stop = (reason: unknown) => {
    cut.abort(reason);
    if (!isSent) connecting.reject(reason);
  };
  const onAbort = () => stop(signal?.reason);
  const timer = setTimeout(() => stop(new Error(`not complete within ${wire.timeoutMs} ms`)), wire.timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const dispatcher = watchStart(wire.dispatcher, () => {
      isSent = true;
    });
    const outcome = await Promise.race([exchange(dispatcher, wire, request, cut.signal), connecting.promise]);
    signal?.throwIfAborted();
    return outcome;
  } catch (error) {
    signal?.throwIfAborted();
    if (isMisuse(error) && !(isSent && request.method === 'PUT')) throw error;
    return { kind: 'unanswered', isSent, reason: wire.scrub(describeError(error)) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

async function exchange(
  dispatcher: Dispatcher,
  wire: Wire,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<Outcome> {
  const answer = await dispatcher.request({
    method: request.method,
    path: `${wire.pathPrefix}${request.path}${request.query === '' ? '' : `?${request.query}`}`,
    body: request.body,
    signal,
    headers: {
      authorization: wire.authorization,
      accept: 'application/json',
      'user-agent': 'affiliate-mirror',
      ...(request.body !== null && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
  });
  return {
    kind: 'answered',
    status: answer.statusCode,
    headers: answer.headers,
    body: await readBody(wire, answer.body),
  };
}

async function readBody({ scrub }: Wire, body: AsyncIterable<Buffer>): Promise<AnswerBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      // Leaving the loop destroys the body, and with it the connection.
      if (size > LARGEST_BODY_BYTES) {
        return { kind: 'unreadable', reason: `a body of more than ${LARGEST_BODY_BYTES} bytes` };
      }
      chunks.push(chunk);
    }
  } catch (error) {
    return { kind: 'broken-off', reason: scrub(describeError(error)) };
  }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    // Replacing what is no UTF-8 would store damaged names as if they were the program's.
    return { kind: 'unreadable', reason: 'bytes that are no UTF-8' };
  }
}

// Tells the moment in which the first byte is about to be written; all before it was connecting.
function watchStart(dispatcher: Dispatcher, onStart: () => void): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    return dispatch(options, {
      onRequestStart(controller, context) {
        onStart();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (controller, status, headers, message) =>
        handler.onResponseStart?.(controller, status, headers, message),
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  });
}

function isMisuse(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return error instanceof Error && 'code' in error && MISUSE_CODES.has(String(error.code));
}
