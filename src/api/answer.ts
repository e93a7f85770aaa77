// Turns the outcome of a request into a value or an error of the catalogue. The meaning of a status is only here.

import { describeError } from '../base/describe-error.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  type AppError,
  ContractViolation,
  WriteOutcomeUnknown,
} from '../base/errors.ts';
import { errorBodySchema } from '../contract/answer-bodies.ts';
import { parseJson } from '../contract/parse-json.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { readRateLimitHeaders } from './rate-limit-headers.ts';
import { isAlwaysThere, saysNotFound } from './refusal.ts';
import type { Scrub } from './scrub.ts';
import type { AnswerBody, ApiRequest, Outcome } from './send-request.ts';

/** For error messages. */
export interface AnswerContext {
  readonly request: ApiRequest;
  /** Scheme, host and port of the API. */
  readonly origin: string;
  /** Empty, or names the proxy. */
  readonly way: string;
  /** From 1. */
  readonly attempt: number;
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
  readonly scrub: Scrub;
}

/** Makes a value of a success's body. */
export interface BodyReader<T> {
  /** Tried first; null leaves the body to `readJson`. */
  readonly readBytes?: (bytes: Buffer, askedAt: Timestamp) => T | null;
  /** Throws: ContractViolation and nothing else. */
  readonly readJson: (json: unknown, reject: RejectAnswer) => T;
}

/**
 * Returns the value that the reader makes of a success's body.
 *
 * Throws: ApiUnauthorized on 401; ApiThrottled on 429; ApiUnavailable on 408 and 5xx; ApiRejected on any other status
 * from 300 on; ApiUnreachable if no whole answer came; ContractViolation on a success that is not as the contract says.
 * On a PUT that may have been applied, ApiUnavailable, ApiUnreachable, ContractViolation and a refusal by a proxy
 * become WriteOutcomeUnknown.
 */
export function readAnswer<T>(context: AnswerContext, received: Outcome, reader: BodyReader<T>): T {
  const outcome = withoutSecret(context, received);
  try {
    if (outcome.kind === 'unanswered') {
      const hint = outcome.isNothingThere && context.way === '' ? CHECK_ADDRESS : '';
      throw unreachable(context, 'no answer', outcome.reason, hint);
    }
    if (!isSuccess(outcome.status)) throw errorOfStatus(context, outcome);
    if (outcome.body.kind === 'broken-off')
      throw unreachable(context, 'no whole answer', outcome.body.reason);
    const { body } = outcome;
    const read = body.kind === 'text' ? reader.readBytes?.(body.bytes, context.askedAt) : null;
    return read ?? reader.readJson(...readJson(context, body));
  } catch (error) {
    if (!isMaybeApplied(context.request, outcome) && !isForeign(context.request, error)) throw error;
    throw outcomeUnknown(context.request, error);
  }
}

/** Said if the answer does not look like that of the API. */
const CHECK_ADDRESS = ': check AFFILIATE_API_URL';

/** Makes the ContractViolation for an answer. */
export type RejectAnswer = (expected: string) => ContractViolation;

/** Returns whether the request is a PUT that may have been applied. */
export function isMaybeApplied(request: ApiRequest, outcome: Outcome): boolean {
  if (request.method !== 'PUT') return false;
  return outcome.kind === 'unanswered' ? outcome.isSent : leavesOpen(outcome.status);
}

/** Returns whether a PUT with this status may have been applied: a success, a redirect or a failure. */
export function leavesOpen(status: number): boolean {
  return status < 400 || isFailure(status);
}

/** Returns whether a proxy in front of the API refused a PUT: it may have passed on the PUT before. */
function isForeign({ method }: ApiRequest, error: unknown): boolean {
  return method === 'PUT' && error instanceof ApiRejected && !error.isOfProgram;
}

export function outcomeUnknown(request: ApiRequest, cause: unknown): WriteOutcomeUnknown {
  return new WriteOutcomeUnknown(
    `${request.method} ${request.path} was sent, but whether it was applied is unknown (${describeError(cause)})`,
    { cause },
  );
}

/**
 * Removes an echo of the secret from the body. If the secret is short, a success is left as it is, because a short
 * secret occurs in names and numbers by chance.
 */
function withoutSecret({ scrub }: AnswerContext, outcome: Outcome): Outcome {
  if (outcome.kind === 'unanswered' || outcome.body.kind !== 'text') return outcome;
  if (isSuccess(outcome.status) && !scrub.isSure) return outcome;
  return { ...outcome, body: { kind: 'text', bytes: scrub.inBytes(outcome.body.bytes) } };
}

const utf8 = new TextDecoder();

function textOf({ bytes }: Extract<AnswerBody, { kind: 'text' }>): string {
  return utf8.decode(bytes);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * Returns whether the API, or a proxy in front of it, failed to answer. 408 is among them: a load balancer sends it if
 * the request came too slowly. Source: RFC 9110, 15.5.9.
 */
export function isFailure(status: number): boolean {
  return status >= 500 || status === 408;
}

function errorOfStatus(context: AnswerContext, answer: Extract<Outcome, { kind: 'answered' }>): AppError {
  const { status, headers } = answer;
  const { said, isWebPage, sentences } = readErrorBody(context, answer.body);
  if (status === 401) {
    return new ApiUnauthorized(
      // Source: contract, Authentication 5 and 6.
      `the API refused the secret (401${said}): check AFFILIATE_API_SECRET against the account's company settings; the operator may have rotated it`,
    );
  }
  const call = `${context.request.method} ${context.request.path}`;
  if (status === 429) {
    const { resetMs } = readRateLimitHeaders(status, headers, Date.now());
    return new ApiThrottled(
      `the API limits the request rate: 429 to ${call} ${afterAttempts(context)}`,
      resetMs,
    );
  }
  if (isFailure(status)) {
    return new ApiUnavailable(
      `the API failed on ${call} ${afterAttempts(context)} (${status}${said})`,
      status,
    );
  }
  const reject = (message: string, isOfProgram: boolean) =>
    new ApiRejected(message, status, sentences, { ...context, isOfProgram });
  if (status < 400) {
    return reject(`the API answered ${call} with a redirect (${status})${CHECK_ADDRESS}`, false);
  }
  // The API's own errors are JSON (contract, Errors).
  const isOfProgram = !isWebPage && !(saysNotFound(status) && isAlwaysThere(context.request));
  const hint = saysNotFound(status) && !isOfProgram ? CHECK_ADDRESS : '';
  return reject(`the API rejected ${call} (${status}${said})${hint}`, isOfProgram);
}

interface SaidBody {
  /** A description of the body if it is not in the API's form. */
  readonly said: string;
  readonly isWebPage: boolean;
  /** Empty if the body is not in the API's form. */
  readonly sentences: readonly string[];
}

function readErrorBody({ scrub }: AnswerContext, body: AnswerBody): SaidBody {
  if (body.kind !== 'text') return { said: `, with ${body.reason}`, isWebPage: false, sentences: [] };
  const text = textOf(body);
  const parsed = errorBodySchema.safeParse(parseJson(text));
  if (!parsed.success) {
    return { said: `, with ${describeBody(text)}`, isWebPage: isWebPage(text), sentences: [] };
  }
  const { error, details = [] } = parsed.data;
  return { said: '', isWebPage: false, sentences: [error, ...details].map((text) => excerpt(scrub(text))) };
}

/** Quotes none of the text: it may be about people. */
function describeBody(text: string): string {
  if (text.trim() === '') return 'an empty body';
  if (isWebPage(text)) return 'a web page';
  return parseJson(text) === undefined ? 'no JSON' : 'other JSON';
}

/** A text that begins like an object may be the API's, cut off. */
function isWebPage(text: string): boolean {
  return /^\s*[^\s{]/.test(text);
}

function unreachable(context: AnswerContext, what: string, reason: string, hint = ''): ApiUnreachable {
  const where = `${context.origin}${context.way}`;
  return new ApiUnreachable(`${what} from ${where} ${afterAttempts(context)}: ${excerpt(reason)}${hint}`);
}

function readJson(context: AnswerContext, body: AnswerBody): [json: unknown, reject: RejectAnswer] {
  const { request } = context;
  const text = body.kind === 'text' ? textOf(body) : null;
  const reject: RejectAnswer = (expected) => {
    const got = body.kind === 'text' ? describeBody(text ?? '') : body.reason;
    const call = `${request.method} ${request.path} ${afterAttempts(context)}`;
    const hint = text !== null && isWebPage(text) ? CHECK_ADDRESS : '';
    return new ContractViolation(
      `the answer to ${call} is not what the contract says: expected ${expected}, got ${got}${hint}`,
    );
  };
  const json = text === null ? undefined : parseJson(text);
  if (json === undefined) throw reject('JSON');
  return [json, reject];
}

function afterAttempts({ attempt }: AnswerContext): string {
  return `after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}`;
}

/** Enough to tell a login page from a proxy's error. */
const EXCERPT_LENGTH = 160;

/**
 * Returns the beginning of a text on one line, without characters that could control a terminal. It ends with a whole
 * word, because `forget` would not find the beginning of an address.
 */
export function excerpt(text: string): string {
  // Cut before cleaning too: the body of an error may be megabytes, and only its beginning is shown.
  const clean = text
    .slice(0, EXCERPT_LENGTH * 10)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  if (clean.length <= EXCERPT_LENGTH) return clean;
  const words = clean.slice(0, EXCERPT_LENGTH + 1).replace(/[^\s"'<>()[\]{},;]*$/, '');
  return `${words.trimEnd()}…`;
}
