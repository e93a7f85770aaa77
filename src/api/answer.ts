// Turns the outcome of a request into a value or an error of the catalogue: the only place that knows what a status
// means.

import { errorBodySchema } from '../contract/answer-bodies.ts';
import { parseJson } from '../contract/parse-json.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { describeError } from '../describe-error.ts';
import {
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  type AppError,
  ContractViolation,
  WriteOutcomeUnknown,
} from '../errors.ts';
import { type AnswerHeaders, readRateLimitHeaders } from './rate-limit-headers.ts';
import { isAlwaysThere, saysNotFound } from './refusal.ts';
import type { Scrub } from './scrub.ts';
import type { AnswerBody, ApiRequest, Outcome } from './send-request.ts';

/** What an error message says about the call. */
export interface AnswerContext {
  readonly request: ApiRequest;
  /** Scheme, host and port of the program. */
  readonly origin: string;
  /** Empty, or names the proxy. */
  readonly way: string;
  /** How often the request was sent so far, this time included. */
  readonly attempt: number;
  /** When that was allowed. */
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
  readonly scrub: Scrub;
}

/** What makes a value of a success's body. */
export interface BodyReader<T> {
  /** Tried first: reads what it can without parsing all of it; null leaves the body to `readJson`. */
  readonly readBytes?: (bytes: Buffer) => T | null;
  /** Throws: ContractViolation and nothing else. */
  readonly readJson: (json: unknown, reject: RejectAnswer) => T;
}

/**
 * Returns what the reader makes of a success's body.
 *
 * Throws: ApiUnauthorized on 401; ApiThrottled on 429; ApiRejected on any other status from 300 to 499 but 408;
 * ApiUnavailable on that and on 5xx; ApiUnreachable where no whole answer came; ContractViolation on a success that
 * is not what the contract says. On a PUT that may have been applied, the last three become WriteOutcomeUnknown, and so
 * does a refusal that is not the program's own.
 */
export function readAnswer<T>(context: AnswerContext, received: Outcome, reader: BodyReader<T>): T {
  const outcome = withoutSecret(context, received);
  try {
    if (outcome.kind === 'unanswered') {
      const hint = outcome.isNobodyThere && context.way === '' ? CHECK_ADDRESS : '';
      throw unreachable(context, 'no answer', outcome.reason, hint);
    }
    if (!isSuccess(outcome.status)) throw errorOfStatus(context, outcome);
    if (outcome.body.kind === 'broken-off')
      throw unreachable(context, 'no whole answer', outcome.body.reason);
    const read = outcome.body.kind === 'text' ? reader.readBytes?.(outcome.body.bytes) : null;
    return read ?? reader.readJson(...readJson(context, outcome.body));
  } catch (error) {
    if (!isMaybeApplied(context.request, outcome) && !isForeign(context.request, error)) throw error;
    throw outcomeUnknown(context.request, error);
  }
}

/** Said where the answer looks like that of something else than the program. */
const CHECK_ADDRESS = ': check AFFILIATE_API_URL';

/** Makes the ContractViolation for an answer, given what the contract expects. */
export type RejectAnswer = (expected: string) => ContractViolation;

/** Returns whether the request may have changed something upstream, as far as its outcome says. */
export function isMaybeApplied(request: ApiRequest, outcome: Outcome): boolean {
  if (request.method !== 'PUT') return false;
  return outcome.kind === 'unanswered' ? outcome.isSent : leavesOpen(outcome.status);
}

/** Returns whether a PUT that is answered so may have been applied: it is no refusal, or a redirect. */
export function leavesOpen(status: number): boolean {
  return status < 400 || isFailure(status);
}

/** Returns whether something in front of the program refused a PUT: it may have asked the program before. */
function isForeign({ method }: ApiRequest, error: unknown): boolean {
  return method === 'PUT' && error instanceof ApiRejected && !error.isOfProgram;
}

/** Returns the error for a PUT that may have been applied. */
export function outcomeUnknown(request: ApiRequest, cause: unknown): WriteOutcomeUnknown {
  return new WriteOutcomeUnknown(
    `${request.method} ${request.path} was sent, but whether it was applied is unknown (${describeError(cause)})`,
    { cause },
  );
}

/**
 * Returns the outcome, its body without the secret: an echo of it belongs neither in a message nor in the data.
 * Where the secret is short, a success is left as it is, because a short one occurs in names and numbers by chance.
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
 * Returns whether the program, or what is in front of it, failed to answer: nothing is said of the request itself.
 * 408 is among them: a load balancer gives it where the request came too slowly. Source: RFC 9110, 15.5.9.
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
      `the program refused the API secret (401${said}): check AFFILIATE_API_SECRET against the account's company settings; the operator may have rotated it`,
    );
  }
  const call = `${context.request.method} ${context.request.path}`;
  if (status === 429) {
    const { resetMs } = readRateLimitHeaders(status, headers, Date.now());
    return new ApiThrottled(
      `the program limits the request rate: 429 to ${call} ${afterAttempts(context)}`,
      resetMs,
    );
  }
  if (isFailure(status)) {
    return new ApiUnavailable(
      `the program failed on ${call} ${afterAttempts(context)} (${status}${said})`,
      status,
    );
  }
  const reject = (message: string, isOfProgram: boolean) =>
    new ApiRejected(message, status, sentences, { ...context, isOfProgram });
  if (status < 400) {
    const target = redirectTarget(context, headers);
    return reject(
      `the program answered ${call} with a redirect (${status}) to ${target}${CHECK_ADDRESS}`,
      false,
    );
  }
  // The program's own errors are JSON (contract, Errors).
  const isOfProgram = !isWebPage && !(saysNotFound(status) && isAlwaysThere(context.request));
  const hint = saysNotFound(status) && !isOfProgram ? CHECK_ADDRESS : '';
  return reject(`the program rejected ${call} (${status}${said})${hint}`, isOfProgram);
}

interface SaidBody {
  /** What the body is, where it is not in the program's form. */
  readonly said: string;
  readonly isWebPage: boolean;
  /** What the program says, in its own form; empty for any other body. */
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

/** Returns what the text is, in words that quote none of it: it may be about people. */
function describeBody(text: string): string {
  if (text.trim() === '') return 'an empty body';
  if (isWebPage(text)) return 'a web page';
  return parseJson(text) === undefined ? 'no JSON' : 'other JSON';
}

/** What begins like an object may be the program's, cut off. */
function isWebPage(text: string): boolean {
  return /^\s*[^\s{]/.test(text);
}

// The host alone: what follows it may hold what the page was called with.
function redirectTarget({ origin, request, scrub }: AnswerContext, headers: AnswerHeaders): string {
  const location = headers['location'];
  const text = Array.isArray(location) ? location[0] : location;
  const base = `${origin}${request.path}`;
  if (text === undefined || !URL.canParse(text, base)) return 'an address that it does not name';
  const target = new URL(text, base);
  return excerpt(scrub(`${target.protocol}//${target.host}`));
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
 * word: the beginning of an address would stay where its person is forgotten.
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
