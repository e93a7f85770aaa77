// The client of the API: its operations, each with its retries. Contains no SQL; the budget is passed in as a
// function.

import { ApiUnauthorized } from '../base/errors.ts';
import type { HttpProxy } from '../config/process/http-proxy.ts';
import type { ListEnvelope } from '../contract/answer-bodies.ts';
import type { Commission } from '../contract/commission.ts';
import type { Payout } from '../contract/payout.ts';
import { type ListedResource, RESOURCES } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { type BodyReader, readAnswer } from './answer.ts';
import { refuseStored } from './answer-age.ts';
import { type AttemptDeps, attemptRequest, type BeforeSend } from './attempt-request.ts';
import { openTransport } from './open-transport.ts';
import { commissionReader, listReader, payoutReader } from './records.ts';
import { makeRenewableWire } from './renewable-wire.ts';
import type { RequestEvent } from './request-event.ts';
import {
  type CommissionChange,
  commissionForm,
  type ListQuery,
  listQueryString,
} from './request-parameters.ts';
import { ATTEMPTS, type Attempts, retry } from './retry.ts';
import type { ApiRequest, Wire } from './send-request.ts';

export interface ApiClientOptions {
  /** Base address, without `/v1` and without a slash at its end. */
  readonly url: string;
  readonly secret: string;
  /**
   * Called when the API refuses the secret: returns the secret as it is now, which is then tried at once and used from
   * then on. Null: there is none.
   */
  readonly rereadSecret?: () => string | null;
  /** For one attempt, from connecting to the last byte. */
  readonly timeoutMs: number;
  /** Left out or null: no proxy. */
  readonly proxy?: HttpProxy | null;
  readonly attempts?: Partial<Attempts>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Called with every attempt of this call, in addition to the client's own `onRequest`. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** In place of the client's own. */
  readonly attempts?: Partial<Attempts>;
  readonly beforeSend?: BeforeSend;
}

export interface ListOptions<Decoded = never> extends CallOptions {
  /** Decodes the body of a page; if it returns null, the body is parsed as JSON. */
  readonly decode?: (body: Buffer, askedAt: Timestamp) => Listed<Decoded> | null;
}

interface Listed<Data> {
  readonly pagination: ListEnvelope['pagination'];
  readonly data: Data;
}

/** The records in the contract's spelling, otherwise unchecked; or the result of `decode`. */
export interface ListedPage<Decoded = never> extends Listed<readonly unknown[] | Decoded> {
  /** Time of the request. */
  readonly askedAt: Timestamp;
}

interface Times {
  readonly askedAt: Timestamp;
  readonly answeredAt: Timestamp;
}

export interface ReadCommission extends Times {
  readonly commission: Commission;
}

export interface ReadPayout extends Times {
  readonly payout: Payout;
}

/**
 * Throws (every method): the `Api…` errors, AnswerStored and ContractViolation of the catalogue, after retries if they
 * can help; the signal's reason when aborted; TypeError once `close` was called.
 */
export interface ApiClient {
  list<R extends ListedResource, Decoded = never>(
    resource: R,
    query: ListQuery<R>,
    options?: ListOptions<Decoded>,
  ): Promise<ListedPage<Decoded>>;
  getCommission(id: string, options?: CallOptions): Promise<ReadCommission>;
  /**
   * Throws in addition: WriteOutcomeUnknown if the change may have been applied. After an abort that is unknown too.
   */
  putCommission(id: string, change: CommissionChange, options?: CallOptions): Promise<ReadCommission>;
  getPayout(id: string, options?: CallOptions): Promise<ReadPayout>;
  /** Has the API pay all commissions of the payout, which takes a while. Throws in addition: as putCommission. */
  payPayout(id: string, options?: CallOptions): Promise<ReadPayout>;
  /** Returns how often the secret was replaced after a 401: the new one may be that of another account. */
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
  let isClosed = false;

  async function call<T>(
    request: ApiRequest,
    reader: BodyReader<T>,
    { signal, onRequest, beforeSend, attempts: ownAttempts }: CallOptions,
  ): Promise<Times & { value: T }> {
    const { method, path } = request;
    const attemptDeps: AttemptDeps = {
      ...deps,
      onRequest: (event) => {
        deps.onRequest?.(event);
        onRequest?.(event);
      },
    };
    const attemptOnce = async (attempt: number, used: Wire) => {
      if (isClosed) throw new TypeError('the client is closed');
      const input = { request, attempt, beforeSend, signal };
      const { outcome, askedAt, answeredAt } = await attemptRequest(attemptDeps, used, input);
      if (outcome.kind === 'answered') refuseStored(request, outcome);
      const times = { askedAt, answeredAt };
      const { scrub } = used;
      const value = readAnswer(
        { request, origin, way: transport.way, attempt, ...times, scrub },
        outcome,
        reader,
      );
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
        signal,
      },
    );
  }

  return {
    async list<R extends ListedResource, Decoded = never>(
      resource: R,
      query: ListQuery<R>,
      callOptions: ListOptions<Decoded> = {},
    ): Promise<ListedPage<Decoded>> {
      const { path, mayBeBare } = RESOURCES[resource];
      const request: ApiRequest = { method: 'GET', path, query: listQueryString(query), body: null };
      const { decode } = callOptions;
      const { value, askedAt } = await call<Listed<readonly unknown[] | Decoded>>(
        request,
        { readJson: listReader(mayBeBare, query.limit), ...(decode && { readBytes: decode }) },
        callOptions,
      );
      return { pagination: value.pagination, data: value.data, askedAt };
    },
    async getCommission(id, callOptions = {}) {
      const request: ApiRequest = { method: 'GET', path: pathOf('commissions', id), query: '', body: null };
      const { value, ...times } = await call(request, { readJson: commissionReader(id) }, callOptions);
      return { commission: value, ...times };
    },
    async putCommission(id, change, callOptions = {}) {
      const body = commissionForm(change);
      const request: ApiRequest = { method: 'PUT', path: pathOf('commissions', id), query: '', body };
      const { value, ...times } = await call(request, { readJson: commissionReader(id) }, callOptions);
      return { commission: value, ...times };
    },
    async getPayout(id, callOptions = {}) {
      const request: ApiRequest = { method: 'GET', path: pathOf('payouts', id), query: '', body: null };
      const { value, ...times } = await call(request, { readJson: payoutReader(id) }, callOptions);
      return { payout: value, ...times };
    },
    async payPayout(id, callOptions = {}) {
      const request: ApiRequest = {
        method: 'PUT',
        path: `${pathOf('payouts', id)}/pay`,
        query: '',
        body: null,
      };
      const { value, ...times } = await call(request, { readJson: payoutReader(id) }, callOptions);
      return { payout: value, ...times };
    },
    renewals: wire.renewals,
    async close() {
      isClosed = true;
      await transport.close();
    },
  };
}

const RENEWED = 'the API refused the secret, and its file holds another one by now';

function pathOf(resource: 'commissions' | 'payouts', id: string): string {
  return `${RESOURCES[resource].path}/${encodeURIComponent(id)}`;
}
