// The board of the queue: bull-board, read only. It is loaded at the first request for it (half a second), and loads
// nothing from other hosts.
//
// It withholds why a job failed: Postgres may quote a value in an error, which may be about people. The reason is in
// the log, and in the run log.

import type { UIConfig } from '@bull-board/api/typings/app';
import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { describeError } from '../base/describe-error.ts';
import type { Logger } from '../base/log.ts';
import type { WorkQueue } from '../worker/queue/backend.ts';
import { QUEUE_AWAY } from './failures.ts';
import { outerFrame } from './frames.ts';
import type { RegisterBoard } from './status-page.ts';
import { sendFailure } from './view-routes.ts';

export interface BoardDeps {
  readonly log: Logger;
  readonly queue: WorkQueue;
  /** Throws: why the queue does not answer. */
  readonly checkQueue: () => Promise<void>;
}

/** Bull-board links a font of another host. */
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
    options: { uiConfig: describeUi(basePath) },
  });
  board.setErrorHandler((error) => {
    log.warn({ reason: describeError(error) }, 'board.failed');
    return { status: 500, body: FAILED };
  });
  return board.registerPlugin() as FastifyPluginCallback;
}

function describeUi(basePath: string): UIConfig {
  return {
    boardTitle: 'affiliate-mirror',
    locale: { lng: 'en' },
    miscLinks: [{ text: 'Status page', url: `${siteOf(basePath)}/` }],
    hideDocsLink: true,
    // They would show the address of the queue's server, and say, wrongly on Postgres, that no worker runs.
    hideRedisDetails: true,
    showWorkers: false,
  };
}

/** Returns the path of the site, whose last part is the board's. */
function siteOf(basePath: string): string {
  return basePath.replace(/\/[^/]*$/, '');
}

const FAILED = { error: 'the board failed: the reason is in the log of the worker' };
const AWAY = {
  error: 'the queue does not answer: "affiliate-mirror doctor" says why',
};
const WITHHELD = 'the reason is in the log of the worker (job.failed)';

// Not left to the board's own read-only mode: a later version may have further routes that change something.
function guard(scope: FastifyInstance, { log, checkQueue }: BoardDeps, site: string): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!READS.includes(request.method)) {
      return reply.code(405).header('allow', READS.join(', ')).send({ error: 'the board is read only' });
    }
    if (request.url.includes('/static/')) return;
    try {
      // Redis' client waits for as long as its server is away; the browser must not.
      await checkQueue();
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'board.queue_away');
      // JSON for the board's own script, a message for a person.
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

/** Returns the answer without the texts of errors. */
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
