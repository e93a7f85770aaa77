// Serves the status page beside what a command does, where its port is free.

import type { Config } from '../config/config.ts';
import { Busy, describeError } from '../errors.ts';
import { makeSchedules } from '../jobs/sync-job.ts';
import type { Logger } from '../log.ts';
import { tickAfter } from '../queue/schedules.ts';
import { startStatusPage } from '../web/server.ts';
import type { StatusPage, StatusPageDeps } from '../web/status-page.ts';
import type { Upcoming } from '../web/upcoming.ts';
import type { Lifetime } from './lifetime.ts';

type ServedDeps = Pick<StatusPageDeps, 'checks' | 'pageDeps' | 'readMetrics' | 'registerBoard'>;

/** Returns the page; null where another process has the port: a second worker on one machine is as good without it. */
export async function serveStatusPage(
  { log, lifetime, ...served }: ServedDeps & { log: Logger; lifetime: Lifetime },
  config: Config,
  { hasSchedules }: { hasSchedules: boolean },
): Promise<StatusPage | null> {
  const { status, mirrorSchema, api } = config;
  const findNext = (nowMs: number) => (hasSchedules ? listUpcoming(config, nowMs) : []);
  const loadPages = async () => {
    const { makePages } = await import('../web/pages.ts');
    return makePages({ rateLimit: api.rateLimit, findNext });
  };
  try {
    const page = await startStatusPage({ log, loadPages, ...served }, { ...status, mirrorSchema });
    lifetime.onClose(() => page.close());
    return page;
  } catch (error) {
    if (!(error instanceof Busy)) throw error;
    log.warn({ reason: describeError(error) }, 'status.not_served');
    return null;
  }
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
