// Serves the status page of a worker, if its port is free.

import { describeError } from '../../base/describe-error.ts';
import { Busy } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { ProcessConfig } from '../../config/config.ts';
import { startStatusPage } from '../../web/server.ts';
import type { StatusPageDeps } from '../../web/status-page.ts';
import type { Lifetime } from '../lifetime.ts';

interface PageProcess {
  readonly process: Pick<ProcessConfig, 'status'>;
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

interface ServedDeps extends Omit<StatusPageDeps, 'log' | 'loadViews'> {
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
  { process: { status }, log, lifetime }: PageProcess,
  { takesAnyPort, ...deps }: ServedDeps,
): Promise<string | null> {
  const start = async (options: ProcessConfig['status']): Promise<string> => {
    const loadViews = async () => (await import('../../web/views.ts')).VIEWS;
    const page = await startStatusPage({ ...deps, log, loadViews }, options);
    lifetime.onClose(() => page.close());
    return `${page.url}/`;
  };
  try {
    return await start(status);
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    if (takesAnyPort) return await start({ ...status, port: 0 });
    log.warn({ reason: describeError(error) }, 'status.not_served');
    return null;
  }
}
