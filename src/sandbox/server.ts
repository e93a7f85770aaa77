// The sandbox's HTTP server: routes, and the order of checks (secret, rate limit, fault, then the work). The answers of
// routes are in files of their own.
//
// Decisions where the contract is silent: an unknown route or method is 404 with `error`, after authentication. A
// body that is not form-encoded is 415, and so is any request with a Content-Encoding; a PUT without a body sends no
// parameter. /openapi.json needs no secret and does not count against the limit. The password must be empty or left out
// with its colon; any other one is refused. A 401 names the scheme in WWW-Authenticate, as HTTP demands; it is decided
// before the rate limit, does not count against it and carries none of its headers.
//
// Of several programs, each has the same routes below a path of its own. GET /statistics then says what each received,
// without a secret.

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../base/log.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import { isOptional, LISTED_RESOURCES, RESOURCES } from '../contract/resources.ts';
import { type Answer, type CommissionDeps, getCommission, putCommission } from './commissions.ts';
import { deliver, send } from './deliver.ts';
import type { ChooseFault } from './fault-plan.ts';
import { type ListingDeps, readList } from './lists.ts';
import { getPayout, type PayoutDeps, payPayout, settlePayouts } from './payouts.ts';
import { readForm, readQuery } from './query-parameters.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { ReceivedRequest, ReceivedRequests } from './received-requests.ts';
import type { Statistics } from './statistics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    received: ReceivedRequest;
  }
}

/** Of one program. */
export interface RouteDeps {
  /** The path of its address, such as `/acme`; empty: the only program. */
  readonly base: string;
  readonly log: Logger;
  /** Counts the refused. */
  readonly isAuthentic: (authorization: string | undefined) => boolean;
  /** Every request waits for it. */
  readonly prepared: Promise<void>;
  readonly receive: RateLimiter['receive'];
  /** Called for every request, since the plan may change. */
  readonly chooseFault: ChooseFault;
  readonly requests: ReceivedRequests;
  readonly statistics: () => Statistics;
  readonly lists: ListingDeps;
  readonly commissions: CommissionDeps;
  readonly payouts: PayoutDeps;
  /** The optional lists that are served. */
  readonly optionalLists: readonly OptionalList[];
  readonly openapi: object;
}

// The router must take a long id, so that it is answered as an unknown one.
const MAXIMUM_ID_LENGTH = 4_000;

/** Returns the server, not yet listening. */
export function makeServer(log: Logger, programs: readonly RouteDeps[]): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAXIMUM_ID_LENGTH },
    frameworkErrors: (_error, request, reply) => {
      const program = programs.find(({ base }) => request.raw.url?.startsWith(`${base}/`));
      if (program?.isAuthentic(request.headers.authorization) === false) refuse(reply);
      else send(reply, notFound(request));
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, body),
  );

  app.addContentTypeParser('*', (request, _payload, done) => {
    const message = `Content-Type ${request.headers['content-type']} is not application/x-www-form-urlencoded`;
    done(Object.assign(new Error(message), { statusCode: 415 }));
  });

  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ err: error, path: pathOf(request.raw.url) }, 'sandbox.request_failed');
    const message = status >= 500 ? 'Internal server error.' : error.message;
    send(reply, { status, body: JSON.stringify({ error: message }) });
  });

  for (const program of programs) {
    app.register(async (routes) => addRoutes(routes, program), { prefix: program.base });
  }
  if (programs.every(({ base }) => base !== '')) {
    app.setNotFoundHandler((request, reply) => send(reply, notFound(request)));
    app.get('/statistics', (_request, reply) =>
      reply.send(Object.fromEntries(programs.map(({ base, statistics }) => [base.slice(1), statistics()]))),
    );
  }
  return app;
}

function addRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const servesPayouts = deps.optionalLists.includes('payouts');
  app.addHook('onRequest', async (request, reply) => {
    await deps.prepared;
    const url = request.raw.url ?? '';
    request.received = deps.requests.add(request.method, url.slice(deps.base.length));
    if (request.routeOptions.url === `${deps.base}/openapi.json`) return;
    if (!deps.isAuthentic(request.headers.authorization)) return refuse(reply);
    const verdict = deps.receive(request.received.receivedAt);
    reply.headers(verdict.headers);
    if (!verdict.isAllowed) {
      return send(reply, { status: 429, body: JSON.stringify({ error: 'Rate limit exceeded.' }) });
    }
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined) {
      const error = `Content-Encoding ${encoding} is not supported: send the body as it is`;
      send(reply, { status: 415, body: JSON.stringify({ error }) });
    }
  });
  // Before the answer is sent: a client that has it finds the request complete among those received.
  app.addHook('onSend', async (request, reply) => {
    request.received.status = reply.statusCode;
  });

  const answer = async (request: FastifyRequest, reply: FastifyReply, work: () => Promise<Answer>) => {
    const fault = deps.chooseFault(request.method, pathOf(request.received.url));
    request.received.fault = fault;
    await deliver(request, reply, fault, async () => {
      if (servesPayouts) await settlePayouts(deps.payouts.pool, deps.payouts.s);
      return work();
    });
    return reply;
  };
  const ok = async (body: Promise<string>): Promise<Answer> => ({ status: 200, body: await body });
  const query = (request: FastifyRequest) => readQuery(request.raw.url ?? '');

  for (const resource of LISTED_RESOURCES) {
    if (isOptional(resource) && !deps.optionalLists.includes(resource)) continue;
    app.get(RESOURCES[resource].path, (request, reply) =>
      answer(request, reply, () => ok(readList(deps.lists, resource, query(request)))),
    );
  }
  app.get<{ Params: { id: string } }>('/v1/commissions/:id', (request, reply) =>
    answer(request, reply, () => getCommission(deps.commissions, readId(request.params.id))),
  );
  app.put<{ Params: { id: string }; Body: string | undefined }>('/v1/commissions/:id', (request, reply) =>
    answer(request, reply, () =>
      putCommission(deps.commissions, readId(request.params.id), readForm(request.body ?? '')),
    ),
  );
  if (servesPayouts) {
    app.get<{ Params: { id: string } }>('/v1/payouts/:id', (request, reply) =>
      answer(request, reply, () => getPayout(deps.payouts, readId(request.params.id))),
    );
    app.put<{ Params: { id: string } }>('/v1/payouts/:id/pay', (request, reply) =>
      answer(request, reply, () => payPayout(deps.payouts, readId(request.params.id))),
    );
  }
  app.get('/openapi.json', (_request, reply) => reply.send(deps.openapi));
  app.setNotFoundHandler((request, reply) => answer(request, reply, async () => notFound(request)));
}

// Without the query, which may hold an email address.
function pathOf(url = ''): string {
  return url.split('?', 1)[0] ?? '';
}

function notFound(request: FastifyRequest): Answer {
  return {
    status: 404,
    body: JSON.stringify({ error: `Route not found: ${request.method} ${request.url}` }),
  };
}

function refuse(reply: FastifyReply): void {
  reply.header('www-authenticate', 'Basic realm="API", charset="UTF-8"');
  send(reply, { status: 401, body: JSON.stringify({ error: INVALID_SECRET }) });
}

// Postgres stores no NUL: an id with one becomes an id that no record has.
function readId(id: string): string {
  return id.replaceAll('\0', '\uFFFD');
}

/** Source: contract, Errors; Answers. */
const INVALID_SECRET = 'Invalid API Secret.';
