// The views of a running worker: its metrics, and the board of its queue, which is loaded at its first request.

import { Busy } from '../../base/errors.ts';
import { readVersion } from '../../base/package.ts';
import { type MetricsDeps, type MetricsText, makeMetrics } from '../../observe/metrics/make-metrics.ts';
import type { RegisterBoard } from '../../web/status-page.ts';
import type { RunningWorker } from '../../worker/queue/start-worker.ts';

export interface WorkerViewsDeps extends Omit<MetricsDeps, 'countJobs'> {
  /** Null while it starts. */
  readonly worker: () => RunningWorker | null;
}

export interface WorkerViews {
  readonly readMetrics: (program?: string) => Promise<MetricsText | null>;
  readonly registerBoard: RegisterBoard;
}

export function makeWorkerViews(
  { worker, ...deps }: WorkerViewsDeps,
  { maxAgeSeconds }: { readonly maxAgeSeconds: number },
): WorkerViews {
  const { log } = deps;
  const running = (): RunningWorker => {
    const found = worker();
    if (found === null) throw new Busy('the worker is still starting: try again in a few seconds');
    return found;
  };
  const countJobs = async () => running().countJobs();
  return {
    readMetrics: makeMetrics({ ...deps, countJobs }, { version: readVersion(), maxAgeSeconds }),
    async registerBoard(scope, options) {
      const { makeBoard } = await import('../../web/board.ts');
      const { queue, checkQueue } = running();
      await makeBoard({ log, queue, checkQueue })(scope, options);
    },
  };
}
