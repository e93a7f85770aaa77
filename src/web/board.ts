// The board of the queue: bull-board, which shows jobs and schedules, and here changes nothing. It is loaded at the first
// request for it (half a second), and everything that it would load from elsewhere is left out.
//
// Why no failed job says here why it failed: an error may quote what the program answered, which may be about people.
// The reason is in the log, and in the run log.

import type { FastifyInstance, FastifyPluginCallback } from 'fastify';
import { Busy, describeError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { WorkQueue } from '../queue/backend.ts';

export interface BoardDeps {
  readonly log: Logger;
  /** Returns the queue; null while the worker starts. */
  readonly queue: () => WorkQueue | null;
  /** Throws: what is wrong, where the queue does not answer. */
  readonly checkQueue: () => Promise<void>;
}

/** Its styles are partly inline, and its small images are data. Scripts come from here, and are in files. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** It links a font of another host. */
const ELSEWHERE = /<link [^>]*href="https?:[^>]*>\s*/g;

const READS = ['GET', 'HEAD'];

/**
 * Returns the function that registers the board's routes on a server that has nothing else; `basePath` is its address as
 * the browser sees it.
 *
 * Throws (from that function): Busy while the worker starts.
 */
export function makeBoard(
  deps: BoardDeps,
): (scope: FastifyInstance, options: { readonly basePath: string }) => Promise<void> {
  return async (scope, { basePath }) => {
    const queue = deps.queue();
    if (queue === null) throw new Busy('the worker is still starting: look again in a few seconds');
    guard(scope, deps);
    await scope.register(await loadBoard(deps, queue, basePath));
  };
}

async function loadBoard(
  { log }: BoardDeps,
  queue: WorkQueue,
  basePath: string,
): Promise<FastifyPluginCallback> {
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
    options: { uiConfig: { boardTitle: 'Queue of affiliate-mirror', hideRedisDetails: true } },
  });
  board.setErrorHandler((error) => {
    log.warn({ reason: describeError(error) }, 'board.failed');
    return { status: 500, body: FAILED };
  });
  return board.registerPlugin() as FastifyPluginCallback;
}

const FAILED = { error: 'the board cannot show this: the reason is in the log of the worker' };
const AWAY = {
  error: 'the queue does not answer: look again once it does; "affiliate-mirror doctor" says why',
};
/** In place of why a job failed. */
const WITHHELD = 'the reason is in the log of the worker (job.failed)';

// Not left to the board's own read-only mode: a later version may have more that changes something.
function guard(scope: FastifyInstance, { log, checkQueue }: BoardDeps): void {
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
      return reply.code(503).send(AWAY);
    }
  });
  scope.addHook('preSerialization', async (_request, _reply, payload) => withhold(payload));
  scope.addHook('onSend', async (_request, reply, payload) => {
    reply.header('content-security-policy', POLICY);
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
