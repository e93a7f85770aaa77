// The board of the queue: bull-board, which shows jobs and schedules, and here changes nothing. It is loaded at the
// first request for it (half a second), and everything that it would load from elsewhere is left out.
//
// Why no failed job says here why it failed: Postgres may quote a value in an error, which may be about people.
// The reason is in the log, and in the run log.

import type { UIConfig } from '@bull-board/api/typings/app';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { describeError } from '../describe-error.ts';
import type { Logger } from '../log.ts';
import type { WorkQueue } from '../queue/queue-server.ts';
import { QUEUE_AWAY } from './failures.ts';
import { outerFrame, sendFailure } from './page-routes.ts';
import type { RegisterBoard } from './status-page.ts';

export interface BoardDeps {
  readonly log: Logger;
  readonly queue: WorkQueue;
  /** Throws: what is wrong, where the queue does not answer. */
  readonly checkQueue: () => Promise<void>;
}

/** It links a font of another host. */
const ELSEWHERE = /<link [^>]*href="https?:[^>]*>\s*/g;

const READS = ['GET', 'HEAD'];

/** Returns the function that registers the board's routes. The headers of its answers are the server's. */
export function makeBoard(deps: BoardDeps): RegisterBoard {
  return async (scope, { basePath }) => {
    guard(scope, deps, siteOf(basePath));
    await scope.register(await loadBoard(deps, basePath));
  };
}

async function loadBoard({ log, queue }: BoardDeps, basePath: string): Promise<FastifyPluginCallback> {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter');
  const { FastifyAdapter } = await import('@bull-board/fastify');
  const board = new FastifyAdapter().setBasePath(basePath);
  // The adapter's types know only BullMQ's own class of a queue; it works with every backend.
  const adapter = new BullMQAdapter(queue as unknown as ConstructorParameters<typeof BullMQAdapter>[0], {
    readOnlyMode: true,
  });
  createBullBoard({
    queues: [adapter],
    serverAdapter: board,
    options: { uiConfig: describeLook(basePath) },
  });
  board.setErrorHandler((error) => {
    log.warn({ reason: describeError(error) }, 'board.failed');
    return { status: 500, body: FAILED };
  });
  return board.registerPlugin() as FastifyPluginCallback;
}

function describeLook(basePath: string): UIConfig {
  return {
    boardTitle: 'affiliate-mirror',
    locale: { lng: 'en' },
    miscLinks: [{ text: 'Status page', url: `${siteOf(basePath)}/` }],
    hideDocsLink: true,
    // They would say how the queue's server is reached, and, wrongly on Postgres, that no worker runs.
    hideRedisDetails: true,
    showWorkers: false,
  };
}

/** Returns the path of the site, whose last part is the board's. */
function siteOf(basePath: string): string {
  return basePath.replace(/\/[^/]*$/, '');
}

const FAILED = { error: 'the board cannot show this: the reason is in the log of the worker' };
const AWAY = {
  error: 'the queue does not answer: look again once it does; "affiliate-mirror doctor" says why',
};
/** In place of why a job failed. */
const WITHHELD = 'the reason is in the log of the worker (job.failed)';

// Not left to the board's own read-only mode: a later version may have more that changes something.
function guard(scope: FastifyInstance, { log, checkQueue }: BoardDeps, site: string): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!READS.includes(request.method)) {
      return reply.code(405).header('allow', READS.join(', ')).send({ error: 'the board only shows' });
    }
    if (request.url.includes('/static/')) return;
    try {
      // Redis' client waits for as long as its server is away: nobody should wait with it.
      await checkQueue();
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'board.queue_away');
      // What the board's own script asks for, and what a person sees.
      if (request.url.includes('/api/')) return reply.code(503).send(AWAY);
      return sendFailure(reply, QUEUE_AWAY, outerFrame(site));
    }
  });
  scope.addHook('preSerialization', async (_request, _reply, payload) => withhold(payload));
  scope.addHook('onSend', async (_request, reply, payload) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (!isPage || typeof payload !== 'string') return payload;
    const page = payload.replace(ELSEWHERE, '');
    reply.header('content-length', Buffer.byteLength(page));
    return page;
  });
}

/** Returns the answer without what errors said. */
function withhold(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withhold);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, WORDS_OF_ERRORS[key]?.(inner) ?? withhold(inner)]),
  );
}

const WORDS_OF_ERRORS: Readonly<Record<string, (inner: unknown) => unknown>> = {
  failedReason: (inner) => inner && WITHHELD,
  deferredFailure: (inner) => inner && WITHHELD,
  stacktrace: () => [],
};
