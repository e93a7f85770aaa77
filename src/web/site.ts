// The site: views, live updates, metrics and the queue's board, behind one access check. This file and its imports are
// loaded with the first request.

import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from '@fastify/helmet';
import { type FastifyInstance, fastify } from 'fastify';
import { addAccessCheck } from './access.ts';
import { addressOf, isAt, pathOf } from './base-path.ts';
import { describeReason, describeRefusal } from './failures.ts';
import { areListed, makeFindProgram } from './find-program.ts';
import { makeFrameOf, outerFrame } from './frames.ts';
import { BOARD_HEADERS, SITE_HEADERS } from './headers.ts';
import { addLive } from './live.ts';
import { addProgramList } from './program-list.ts';
import type { RegisterBoard, StatusPageDeps, StatusPageOptions } from './status-page.ts';
import { addViews, sendFailure } from './view-routes.ts';

export interface Site {
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** A path of any length reaches the access check: beyond its own bound, fastify would answer itself. */
const ROUTER = { ignoreTrailingSlash: true, maxParamLength: Number.MAX_SAFE_INTEGER };

const NO_CACHE = { 'cache-control': 'no-store' };

export async function makeSite(deps: StatusPageDeps, options: StatusPageOptions): Promise<Site> {
  const { log } = deps;
  const { basePath, piiPassword } = options;
  const isListed = areListed(deps.programs());
  const views = await deps.loadViews();
  const site = fastify({
    // Prometheus asks past the proxy, at the usual path.
    rewriteUrl: ({ url = '' }) => (isAt('', url, '/metrics') ? url : pathOf(basePath, url)),
    routerOptions: ROUTER,
  });
  await site.register(helmet, SITE_HEADERS);
  site.addHook('onRequest', async (_request, reply) => {
    reply.headers(NO_CACHE);
  });
  addAccessCheck({ site, log }, options, (refusal, reply) =>
    sendFailure(reply, describeRefusal(refusal), outerFrame(basePath)),
  );
  const frames = {
    basePath,
    canShowPeople: piiPassword !== null,
    isListed,
    views,
    hasBoard: deps.registerBoard !== null,
  };
  const find = makeFindProgram(deps);
  const frameOf = makeFrameOf(frames);
  addViews(site, { log, find, frameOf }, frames);
  if (isListed) addProgramList(site, { ...deps, frameOf }, basePath);
  if (piiPassword !== null) addPeopleRoute(site, basePath);
  if (deps.readMetrics !== null) addMetrics(site, deps.readMetrics, deps, options);
  const board =
    deps.registerBoard === null ? null : addBoard(site, deps.registerBoard, addressOf(basePath, '/queue'));
  addLive(site, deps, { isListed, find });
  await site.ready();
  return {
    answer: (request, response) => site.routing(request, response),
    async close() {
      await board?.close();
      await site.close();
    },
  };
}

// The browser asks for the password here, and sends it from then on with every request to the site.
function addPeopleRoute(site: FastifyInstance, basePath: string): void {
  site.get<{ Querystring: { back?: unknown } }>(
    '/personal-data',
    { config: { access: 'people' } },
    (request, reply) => reply.redirect(addressOf(basePath, localPath(String(request.query.back))), 303),
  );
}

/** Returns the path if it is one of this site, else that of the overview. */
function localPath(address: string): string {
  const here = 'http://localhost';
  const found = URL.parse(address, here);
  if (!address.startsWith('/') || found?.origin !== here || found.pathname.startsWith('//')) return '/';
  return `${found.pathname}${found.search}`;
}

function addMetrics(
  site: FastifyInstance,
  readMetrics: NonNullable<StatusPageDeps['readMetrics']>,
  { log }: Pick<StatusPageDeps, 'log'>,
  { metrics }: Pick<StatusPageOptions, 'metrics'>,
): void {
  const config = metrics === 'open' ? ({ access: 'open' } as const) : {};
  site.get<{ Querystring: { program?: unknown } }>('/metrics', { config }, async ({ query }, reply) => {
    try {
      const read = await readMetrics(query.program === undefined ? undefined : String(query.program));
      if (read === null) return reply.code(404).type('text/plain').send('there is no such program\n');
      return reply.header('content-type', read.contentType).send(read.text);
    } catch (error) {
      log.warn({ reason: describeReason(error) }, 'status.metrics_failed');
      return reply
        .code(503)
        .type('text/plain')
        .send('the metrics cannot be read: see the log of the worker\n');
    }
  });
}

// The board has its own server because its headers differ. It is made at the first request for it, and never listens.
function addBoard(site: FastifyInstance, registerBoard: RegisterBoard, basePath: string) {
  let making: Promise<FastifyInstance> | null = null;
  const make = async () => {
    const board = fastify({ routerOptions: ROUTER });
    await board.register(helmet, BOARD_HEADERS);
    board.addHook('onRequest', async (_request, reply) => {
      reply.headers(NO_CACHE);
    });
    await board.register(async (scope) => registerBoard(scope, { basePath }), { prefix: '/queue' });
    await board.ready();
    return board;
  };
  for (const path of ['/queue', '/queue/*']) {
    site.get(path, async (request, reply) => {
      making ??= make();
      const board = await making.catch((error: unknown) => {
        making = null;
        throw error;
      });
      reply.hijack();
      board.routing(request.raw, reply.raw);
    });
  }
  return { close: async () => (await making)?.close() };
}
