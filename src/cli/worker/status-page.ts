// Serves the status page beside what a command does, where its port is free.

import type { Config } from '../../config/config.ts';
import { describeError } from '../../describe-error.ts';
import { Busy } from '../../errors.ts';
import { makeSchedules } from '../../jobs/sync-job.ts';
import { tickAfter } from '../../queue/schedules.ts';
import type { OverviewFacts } from '../../web/pages/overview.ts';
import { startStatusPage } from '../../web/server.ts';
import type { StatusPageDeps } from '../../web/status-page.ts';
import type { Upcoming } from '../../web/upcoming.ts';
import type { Lifetime } from '../lifetime.ts';

interface ServedDeps
  extends Pick<StatusPageDeps, 'log' | 'checks' | 'pageDeps' | 'readMetrics' | 'registerBoard'> {
  readonly lifetime: Lifetime;
}

/**
 * Serves the page for the life of a worker; without it, where another process has the port: a second worker on one
 * machine is as good.
 *
 * Throws: ConfigError where host or port cannot be used at all.
 */
export async function serveStatusPage(deps: ServedDeps, config: Config): Promise<void> {
  const findNext = (nowMs: number) => listUpcoming(config, nowMs);
  try {
    await start(deps, config, findNext);
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    deps.log.warn({ reason: describeError(error) }, 'status.not_served');
  }
}

/**
 * Serves the page beside what does nothing by itself, at any free port where its own is taken. Returns its address.
 *
 * Throws: ConfigError where host or port cannot be used at all.
 */
export async function servePassivePage(deps: ServedDeps, config: Config): Promise<string> {
  const serve = (port: number) => start(deps, { ...config, status: { ...config.status, port } }, () => []);
  try {
    return await serve(config.status.port);
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    return await serve(0);
  }
}

async function start(
  { lifetime, ...deps }: ServedDeps,
  { status, mirrorSchema, api }: Config,
  findNext: OverviewFacts['findNext'],
): Promise<string> {
  const loadPages = async () => {
    const { makePages } = await import('../../web/pages.ts');
    return makePages({ rateLimit: api.rateLimit, findNext });
  };
  const page = await startStatusPage({ ...deps, loadPages }, { ...status, mirrorSchema });
  lifetime.onClose(() => page.close());
  return `${page.url}/`;
}

/** Returns the next tick of every schedule, the soonest first. */
function listUpcoming({ schedules, scheduledExports }: Config, nowMs: number): readonly Upcoming[] {
  const syncs = makeSchedules(schedules).map(({ mode, pattern, timezone }) => ({
    what: WHAT[mode],
    variable: mode === 'full' ? 'SYNC_FULL_CRON' : 'SYNC_DELTA_CRON',
    pattern,
    timezone,
  }));
  const exports =
    scheduledExports === null
      ? []
      : [
          {
            what: 'Export',
            variable: 'EXPORT_CRON',
            pattern: scheduledExports.pattern,
            timezone: schedules.timezone,
          },
        ];
  return [...syncs, ...exports]
    .map(({ what, variable, ...cron }) => ({ what, variable, atMs: tickAfter(cron, nowMs) }))
    .filter(({ atMs }) => Number.isFinite(atMs))
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ atMs, ...rest }) => ({ ...rest, at: new Date(atMs).toISOString() }));
}

const WHAT = {
  full: 'Full sync: everything is read',
  delta: 'Delta sync: what changed is read',
} as const;
