// Serves the status page of a worker, if its port is free.

import { describeError } from '../../base/describe-error.ts';
import { Busy } from '../../base/errors.ts';
import type { GrowthDeps } from '../../reports/read-growth.ts';
import { startStatusPage } from '../../web/server.ts';
import type { PageProgram, StatusPageDeps } from '../../web/status-page.ts';
import type { ViewDeps } from '../../web/view.ts';
import type { Program } from '../program.ts';
import { listUpcoming } from './upcoming.ts';

interface ServedDeps extends Pick<StatusPageDeps, 'checks' | 'readMetrics' | 'registerBoard'> {
  readonly growth: GrowthDeps;
  /** Whether the status page takes any free port if another process has the configured one. */
  readonly takesAnyPort: boolean;
}

/**
 * Serves the status page for the life of a worker. Returns its address; null if another process has the port: a second
 * worker on one machine works without one.
 *
 * Throws: ConfigError if host or port cannot be used.
 */
export async function serveStatusPage(
  program: Program,
  { takesAnyPort, ...deps }: ServedDeps,
): Promise<string | null> {
  const { status } = program.process;
  try {
    return await start(program, deps, status);
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    if (takesAnyPort) return await start(program, deps, { ...status, port: 0 });
    program.log.warn({ reason: describeError(error) }, 'status.not_served');
    return null;
  }
}

async function start(
  program: Program,
  { growth, ...deps }: Omit<ServedDeps, 'takesAnyPort'>,
  status: Program['process']['status'],
): Promise<string> {
  const { log, lifetime, money, rateLimit } = program;
  const viewDeps: ViewDeps = {
    ...growth,
    money,
    maxAgeSeconds: program.process.staleAfterSeconds,
    rateLimit,
    findNext: (nowMs) => listUpcoming(program, nowMs),
  };
  const served: PageProgram = {
    name: null,
    viewDeps,
    condition: { state: 'serving' },
    readFigures: () => null,
  };
  const page = await startStatusPage(
    {
      ...deps,
      log,
      programs: () => [served],
      fileProblems: () => [],
      loadViews: async () => (await import('../../web/views.ts')).VIEWS,
    },
    status,
  );
  lifetime.onClose(() => page.close());
  return `${page.url}/`;
}
