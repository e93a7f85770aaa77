// The client of the affiliate program: its three operations, each a request that is repeated until it succeeds or
// cannot succeed any more. Contains no SQL; the budget is passed in as a function.

import { Pool } from 'undici';
import type { Commission } from '../contract/commission.ts';
import type { ListEnvelope } from '../contract/list-envelope.ts';
import { type ListedResource, RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type RejectAnswer, readAnswer } from './answer.ts';
import { type AttemptDeps, attemptRequest, type BeforeSend, type RequestEvent } from './attempt-request.ts';
import { basicAuth } from './basic-auth.ts';
import { type CommissionChange, commissionForm } from './commission-form.ts';
import { type ListQuery, listQueryString } from './query-string.ts';
import { commissionReader, readListAnswer } from './records.ts';
import { ATTEMPTS, type Attempts, retry } from './retry.ts';
import { makeScrub } from './scrub.ts';
import type { ApiRequest, Wire } from './send-request.ts';

export interface ApiClientOptions {
  /** Base address, without `/v1` and without a slash at its end. */
  readonly url: string;
  readonly secret: string;
  /** For one attempt, from connecting to the last byte. */
  readonly timeoutMs: number;
  readonly attempts?: Partial<Attempts>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Called with every attempt of this call, beside the client's own `onRequest`. */
  readonly onRequest?: (event: RequestEvent) => void;
}

export interface PutOptions extends CallOptions {
  readonly beforeSend?: BeforeSend;
}

export interface ListedPage {
  readonly pagination: ListEnvelope['pagination'];
  /** In the contract's spelling, otherwise unchecked. */
  readonly data: readonly unknown[];
  readonly askedAt: Timestamp;
}

export interface ReadCommission {
  readonly commission: Commission;
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
}

/**
 * Throws (every method): the `Api…` errors and ContractViolation of the catalogue, after retries where they can
 * help; the signal's reason when aborted.
 */
export interface ApiClient {
  list<R extends ListedResource>(
    resource: R,
    query: ListQuery<R>,
    options?: CallOptions,
  ): Promise<ListedPage>;
  getCommission(id: string, options?: CallOptions): Promise<ReadCommission>;
  /**
   * Throws, beyond the rest: WriteOutcomeUnknown where the change may have been applied. An abort leaves that
   * open as well.
   */
  putCommission(id: string, change: CommissionChange, options?: PutOptions): Promise<ReadCommission>;
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
  const scrub = makeScrub(options.secret);
  const attempts = { ...ATTEMPTS, ...options.attempts };
  const pool = new Pool(origin, {
    // One request per connection at a time and nothing re-sent by the transport, as HTTP/2 may do: the outcome
    // of a PUT must be known from its own connection.
    allowH2: false,
    pipelining: 1,
    connect: { timeout: options.timeoutMs },
    // The attempt's own timeout covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const wire: Wire = {
    dispatcher: pool,
    pathPrefix: pathname.replace(/\/+$/, ''),
    authorization: basicAuth(options.secret),
    timeoutMs: options.timeoutMs,
    scrub,
  };

  function call<T>(
    request: ApiRequest,
    parse: (json: unknown, reject: RejectAnswer) => T,
    { signal, onRequest, beforeSend }: PutOptions,
  ): Promise<{ value: T; askedAt: Timestamp; answeredAt: Timestamp }> {
    const { method, path } = request;
    const attemptDeps: AttemptDeps = {
      ...deps,
      onRequest: (event) => {
        deps.onRequest?.(event);
        onRequest?.(event);
      },
    };
    return retry(
      attempts,
      async (attempt) => {
        const input = { request, attempt, beforeSend, signal };
        const { outcome, askedAt, answeredAt } = await attemptRequest(attemptDeps, wire, input);
        return {
          value: readAnswer({ request, origin, attempt, scrub }, outcome, parse),
          askedAt,
          answeredAt,
        };
      },
      ({ error, attempt, waitMs }) => {
        log.warn({ method, path, attempt, wait_ms: waitMs, reason: error.message }, 'api.retry');
      },
      signal,
    );
  }

  return {
    async list(resource, query, callOptions = {}) {
      const { path } = RESOURCES[resource];
      const request: ApiRequest = { method: 'GET', path, query: listQueryString(query), body: null };
      const { value, askedAt } = await call(request, readListAnswer, callOptions);
      return { pagination: value.pagination, data: value.data, askedAt };
    },
    async getCommission(id, callOptions = {}) {
      const request: ApiRequest = { method: 'GET', path: commissionPath(id), query: '', body: null };
      const { value, ...times } = await call(request, commissionReader(id), callOptions);
      return { commission: value, ...times };
    },
    async putCommission(id, change, callOptions = {}) {
      const body = commissionForm(change);
      const request: ApiRequest = { method: 'PUT', path: commissionPath(id), query: '', body };
      const { value, ...times } = await call(request, commissionReader(id), callOptions);
      return { commission: value, ...times };
    },
    async close() {
      await pool.destroy();
    },
  };
}

function commissionPath(id: string): string {
  return `${RESOURCES.commissions.path}/${encodeURIComponent(id)}`;
}
