// A worker with its status page, its metrics, its alerts, and the sources of its jobs.

import { describeError } from '../../base/describe-error.ts';
import { Busy } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import type { ProgramAddress } from '../../config/config.ts';
import { checkWorkerAccess } from '../../db/access/check-access.ts';
import { asClient } from '../../db/as-client.ts';
import type { Database } from '../../db/database.ts';
import { listen } from '../../db/locks/process-session.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { noteListSettings } from '../../mirror/optional-lists.ts';
import { readState, refuseOtherSettings } from '../../mirror/people/stored-state.ts';
import { makeChannels } from '../../observe/alerts/channels.ts';
import { watchAlerts } from '../../observe/alerts/watch.ts';
import { makeFigureCache } from '../../observe/metrics/figure-cache.ts';
import { makeRecorder } from '../../observe/metrics/recorder.ts';
import type { ObservedProgram } from '../../observe/observed-program.ts';
import { COMMISSION_UPDATES_CHANNEL } from '../../payments/ask/request-updates.ts';
import { writerConcurrency } from '../../payments/write/writer-concurrency.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import type { JobSource } from '../../worker/queue/job-source.ts';
import { checkQueueSchema, findQueueSchema } from '../../worker/queue/queue-tables.ts';
import type { ServedProgram, Serving } from '../../worker/queue/served-program.ts';
import { makeStartRetry } from '../../worker/queue/start-retry.ts';
import { type RunningWorker, startWorker } from '../../worker/queue/start-worker.ts';
import { TIMINGS } from '../../worker/queue/timings.ts';
import { readQueueId } from '../../worker/queue/worker-state.ts';
import { makeCommissionsSource } from '../../worker/sources/commissions-job.ts';
import { makeListsSource } from '../../worker/sources/list-job.ts';
import { makePollSource } from '../../worker/sources/poll-job.ts';
import { probeProgram } from '../../worker/sources/probe-program.ts';
import { makeRetentionSource } from '../../worker/sources/retention-job.ts';
import { makeSchedules, makeSyncSource, type RunMeter } from '../../worker/sources/sync-job.ts';
import { type ConnectedProgram, connectProgram } from '../connect-program.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { Program } from '../program.ts';
import { makeExportSources } from './scheduled-exports.ts';
import { serveStatusPage } from './status-page.ts';
import { makeWorkerViews } from './views.ts';

/** With one program, less than its least. */
const MOST_JOBS = 200;

interface WorkOptions {
  /** Called with every run that ended, in any state. */
  readonly onRun?: (run: RunSummary) => void;
  /** Whether the status page takes any free port if another process has the configured one. */
  readonly takesAnyPort?: boolean;
}

/**
 * Starts the worker with its status page, alerts and metrics, for the life of the command. Returns the page's address,
 * null if another process has the port, and a signal: it aborts when the command is stopped, or with the error that
 * ends the worker.
 *
 * Throws: the error that keeps the worker from starting.
 */
export async function startWork(
  program: Program,
  address: ProgramAddress,
  { onRun, takesAnyPort = false }: WorkOptions = {},
): Promise<{ page: string | null; over: AbortSignal }> {
  const { pool, db, log, lifetime, mirrorSchema, rateLimit } = program;
  const { redisUrl, staleAfterSeconds: maxAgeSeconds } = program.process;
  // The database has answered once: if it goes away from here on, the worker waits for it.
  const retry = makeStartRetry({ log }, lifetime.signal);
  const queue = { redisUrl, mirrorSchema, databaseUrl: program.database.url };
  const rights = { schema: mirrorSchema, queueSchema: findQueueSchema(redisUrl, mirrorSchema) };
  const checkAccess = () => checkWorkerAccess(pool, rights);
  const checkTables = async () => {
    await checkSchema(pool, { schema: mirrorSchema });
    await checkQueueSchema(pool, queue);
  };
  let worker: RunningWorker | null = null;
  const checkQueue = async () => {
    if (worker === null) throw new Busy('the worker is still starting');
    await worker.checkQueue();
  };
  const checks = {
    database: () => pool.query('select 1'),
    rights: checkAccess,
    migrations: checkTables,
    queue: checkQueue,
  };
  const recorder = makeRecorder();
  const readSpace = () => readDiskSpace(program.process);
  const observed: ObservedProgram = {
    ...{ name: null, db, log, mirrorSchema, rateLimit, recorder, readSpace },
    state: () => (worker === null ? 'starting' : 'serving'),
  };
  const observing = { programs: () => [observed], figures: makeFigureCache() };
  const { readMetrics, registerBoard } = makeWorkerViews(
    { ...observing, db, log, worker: () => worker, isFileRefused: () => null },
    { maxAgeSeconds },
  );
  const viewDeps = { ...program, readSpace, maxAgeSeconds };
  const page = await serveStatusPage(program, {
    takesAnyPort,
    checks,
    viewDeps,
    readMetrics,
    registerBoard,
  });
  await retry(checkAccess);
  const connected = await connectProgram(program, address, {
    isWatched: false,
    meter: recorder,
    prepare: () => retry(checkTables),
    retry,
  });
  await retry(() => noteListSettings(db, program.optionalLists));
  const exportSources = await retry(() => makeExportSources(program));

  const meter = {
    ...recorder,
    ended: (run: RunSummary) => {
      recorder.ended(run);
      onRun?.(run);
    },
  };
  const probe = (signal: AbortSignal) => probeProgram({ api: connected.clients.probe, db }, signal);
  const checkMirror = async (asked: Database) => {
    await checkSchema(asClient(asked), { schema: mirrorSchema });
    refuseOtherSettings(program.personalData, await readState(asked));
  };
  const queueId = await retry(() => readQueueId(db));
  const running = await startWorker(
    { db, log },
    { queue, queueId, mostJobs: MOST_JOBS, signal: lifetime.signal },
  );
  const serving = await serveOrStop(
    running,
    {
      name: null,
      db,
      log,
      probe,
      checkMirror,
      sources: [...makeSources(connected, meter), ...exportSources],
    },
    lifetime.signal,
  );
  worker = running;
  const closing = new AbortController();
  // While the worker starts or stops its queue does not answer, and nothing is wrong.
  const watching = watchAlerts(
    {
      ...{ ...observing, checkQueue: running.checkQueue, channels: makeChannels(program.process.alerts) },
      warn: makeQuietWarning({ log }, 'alerts.failed'),
    },
    { signal: closing.signal, maxAgeSeconds },
  );
  lifetime.onClose(() => watching);
  lifetime.onClose(() => stopInTime(running, log));
  // Payments begin at once: the notification is sent with the commit that asks for them.
  const input = { channel: COMMISSION_UPDATES_CHANNEL, payload: mirrorSchema, onNotified: serving.wake };
  const listening = listen(db, input, closing.signal);
  lifetime.onClose(() => {
    closing.abort();
    return listening;
  });
  const broken = new AbortController();
  Promise.race([running.ended, serving.ended]).catch((error: unknown) => broken.abort(error));
  return { page, over: AbortSignal.any([lifetime.signal, broken.signal]) };
}

/** Throws: what `serve` throws; the worker is stopped then. */
async function serveOrStop(
  worker: RunningWorker,
  program: ServedProgram,
  signal: AbortSignal,
): Promise<Serving> {
  try {
    return await worker.serve(program, signal);
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

/** Returns the sources of every worker. */
function makeSources(program: ConnectedProgram, meter: RunMeter): readonly JobSource[] {
  const { clients, rateLimit, schedules, optionalLists, process } = program;
  const reader = { ...program, api: clients.reads };
  return [
    makeCommissionsSource(
      { ...program, api: clients.payments },
      { concurrency: writerConcurrency(rateLimit) },
    ),
    makeSyncSource({ ...reader, meter }, { schedules: makeSchedules(schedules) }, TIMINGS),
    makePollSource(reader),
    makeListsSource({ ...program, api: clients.probe }, optionalLists),
    makeRetentionSource(program, process.retention),
  ];
}

// If the worker hangs, a server does not answer; the worker that takes the jobs over goes on at their checkpoints.
async function stopInTime(worker: RunningWorker, log: Logger): Promise<void> {
  try {
    await worker.stop();
  } catch (error) {
    log.error({ reason: describeError(error) }, 'worker.killed');
    process.exit(1);
  }
}
