// The client of the affiliate program: its three operations, each a request that is repeated until it succeeds or
// cannot succeed any more. Contains no SQL; the budget is passed in as a function.

import type { HttpProxy } from '../config/http-proxy.ts';
import type { ListEnvelope } from '../contract/answer-bodies.ts';
import type { Commission } from '../contract/commission.ts';
import { type ListedResource, RESOURCES } from '../contract/resources.ts';
import { MICROS_PER_MILLI, spellMicros, type Timestamp, toMicros } from '../contract/timestamp.ts';
import { ApiUnauthorized } from '../errors.ts';
import { type BodyReader, readAnswer } from './answer.ts';
import { makeMeasureAge, refuseStored, unstoredRequest } from './answer-age.ts';
import { type AttemptDeps, attemptRequest, type BeforeSend } from './attempt-request.ts';
import { type RecordReader, readListBytes } from './list-bytes.ts';
import { openTransport } from './open-transport.ts';
import { commissionReader, listReader } from './records.ts';
import { mayPass } from './refusal.ts';
import { makeRenewableWire } from './renewable-wire.ts';
import type { RequestEvent } from './request-event.ts';
import {
  type CommissionChange,
  commissionForm,
  type ListQuery,
  listQueryString,
} from './request-parameters.ts';
import { ATTEMPTS, type Attempts, retry } from './retry.ts';
import type { ApiRequest, Outcome, Wire } from './send-request.ts';

export interface ApiClientOptions {
  /** Base address, without `/v1` and without a slash at its end. */
  readonly url: string;
  readonly secret: string;
  /**
   * Asked for the secret as it is now, once the program refuses the one in use: another one is tried at once, and kept.
   * Null: there is none.
   */
  readonly rereadSecret?: () => string | null;
  /** For one attempt, from connecting to the last byte. */
  readonly timeoutMs: number;
  /** Left out or null: the program is reached directly. */
  readonly proxy?: HttpProxy | null;
  readonly attempts?: Partial<Attempts>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Called with every attempt of this call, beside the client's own `onRequest`. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** In place of the client's own. */
  readonly attempts?: Partial<Attempts>;
}

export interface ListOptions extends CallOptions {
  /** Reads the records by their bytes where it can; the others are parsed. */
  readonly recordReader?: RecordReader;
  /** Takes a page that is older than its question as what it is; left out, it is an error: AnswerStored. */
  readonly takesStored?: boolean;
}

export interface PutOptions extends CallOptions {
  readonly beforeSend?: BeforeSend;
}

export interface ListedPage {
  readonly pagination: ListEnvelope['pagination'];
  /** In the contract's spelling, otherwise unchecked; or what the given reader read. */
  readonly data: readonly unknown[];
  /** When it was asked; of a page that is older than that, when it was made. */
  readonly askedAt: Timestamp;
  /** By how many milliseconds it is older than its question; 0 as a rule. */
  readonly ageMs: number;
}

export interface ReadCommission {
  readonly commission: Commission;
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
}

/**
 * Throws (every method): the `Api…` errors, AnswerStored and ContractViolation of the catalogue, after retries where
 * they can help; the signal's reason when aborted; TypeError once `close` was called.
 */
export interface ApiClient {
  list<R extends ListedResource>(
    resource: R,
    query: ListQuery<R>,
    options?: ListOptions,
  ): Promise<ListedPage>;
  getCommission(id: string, options?: CallOptions): Promise<ReadCommission>;
  /**
   * Throws, beyond the rest: WriteOutcomeUnknown where the change may have been applied. An abort leaves that
   * open as well.
   */
  putCommission(id: string, change: CommissionChange, options?: PutOptions): Promise<ReadCommission>;
  /** Returns how often the secret was read anew after a 401: it may be that of another account since. */
  renewals(): number;
  /** Closes every connection; requests still in flight fail. */
  close(): Promise<void>;
}

/**
 * Returns a client with its own connections, none of them open yet.
 *
 * Every attempt takes a permit and returns it exactly once; `askedAt` and `answeredAt` are those of the attempt
 * that succeeded.
 */
export function makeApiClient(deps: AttemptDeps, options: ApiClientOptions): ApiClient {
  const { log } = deps;
  const { origin, pathname } = new URL(options.url);
  const attempts = { ...ATTEMPTS, ...options.attempts };
  const transport = openTransport(origin, options.proxy ?? null, options.timeoutMs);
  const { timeoutMs, rereadSecret } = options;
  const base = {
    dispatcher: transport.dispatcher,
    origin,
    pathPrefix: pathname.replace(/\/+$/, ''),
    timeoutMs,
  };
  const wire = makeRenewableWire(base, options.secret, rereadSecret);
  const measureAge = makeMeasureAge();
  let isClosed = false;
  /** Whether the program has answered once: at a wrong address it never does, and nothing is tried again there. */
  let isFound = false;

  async function ageOf(
    { method }: ApiRequest,
    outcome: Outcome,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    if (method !== 'GET' || outcome.kind === 'unanswered') return 0;
    return measureAge(outcome, async () => {
      const input = { request: unstoredRequest(), attempt: 1, beforeSend: undefined, signal };
      const unstored = await attemptRequest(deps, wire.current(), input);
      return unstored.outcome.kind === 'answered' ? unstored.outcome : null;
    });
  }

  async function call<T>(
    request: ApiRequest,
    reader: BodyReader<T>,
    { signal, onRequest, beforeSend, attempts: ownAttempts, takesStored = false }: PutOptions & ListOptions,
  ): Promise<{ value: T; askedAt: Timestamp; answeredAt: Timestamp; ageMs: number }> {
    if (isClosed) throw new TypeError('the client was closed: it takes no calls any more');
    const { method, path } = request;
    const attemptDeps: AttemptDeps = {
      ...deps,
      onRequest: (event) => {
        deps.onRequest?.(event);
        onRequest?.(event);
      },
    };
    const attemptOnce = async (attempt: number, used: Wire) => {
      const input = { request, attempt, beforeSend, signal };
      const { outcome, askedAt, answeredAt } = await attemptRequest(attemptDeps, used, input);
      const ageMs = await ageOf(request, outcome, signal);
      if (outcome.kind === 'answered') refuseStored(request, outcome.status, { ageMs, takesStored });
      const times = { askedAt: earlier(askedAt, ageMs), answeredAt, ageMs };
      const { scrub } = used;
      const value = readAnswer(
        { request, origin, way: transport.way, attempt, ...times, scrub },
        outcome,
        reader,
      );
      isFound = true;
      return { value, ...times };
    };
    return retry(
      { ...attempts, ...ownAttempts },
      async (attempt) => {
        const used = wire.current();
        try {
          return await attemptOnce(attempt, used);
        } catch (error) {
          if (!(error instanceof ApiUnauthorized) || !wire.renew(used)) throw error;
          log.warn({ method, path, attempt, wait_ms: 0, reason: RENEWED }, 'api.request_retried');
          return await attemptOnce(attempt, wire.current());
        }
      },
      {
        onWait: ({ error, attempt, waitMs }) => {
          log.warn({ method, path, attempt, wait_ms: waitMs, reason: error.message }, 'api.request_retried');
        },
        mayPass: (error) => isFound && mayPass(error, request),
        signal,
      },
    );
  }

  return {
    async list(resource, query, callOptions = {}) {
      const { path, mayBeBare } = RESOURCES[resource];
      const request: ApiRequest = { method: 'GET', path, query: listQueryString(query), body: null };
      const { recordReader } = callOptions;
      const { value, askedAt, ageMs } = await call(
        request,
        {
          readJson: listReader(mayBeBare, query.limit),
          ...(recordReader && { readBytes: (bytes) => readListBytes(bytes, recordReader) }),
        },
        callOptions,
      );
      return { pagination: value.pagination, data: value.data, askedAt, ageMs };
    },
    async getCommission(id, callOptions = {}) {
      const request: ApiRequest = { method: 'GET', path: commissionPath(id), query: '', body: null };
      const { value, ...times } = await call(request, { readJson: commissionReader(id) }, callOptions);
      return { commission: value, ...times };
    },
    async putCommission(id, change, callOptions = {}) {
      const body = commissionForm(change);
      const request: ApiRequest = { method: 'PUT', path: commissionPath(id), query: '', body };
      const { value, ...times } = await call(request, { readJson: commissionReader(id) }, callOptions);
      return { commission: value, ...times };
    },
    renewals: wire.renewals,
    async close() {
      isClosed = true;
      await transport.close();
    },
  };
}

const RENEWED = 'the program refused the API secret, and its file holds another one by now';

function earlier(time: Timestamp, byMs: number): Timestamp {
  return byMs === 0 ? time : spellMicros(toMicros(time) - BigInt(Math.ceil(byMs)) * MICROS_PER_MILLI);
}

function commissionPath(id: string): string {
  return `${RESOURCES.commissions.path}/${encodeURIComponent(id)}`;
}
