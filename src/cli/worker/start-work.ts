// A worker with its status page, its metrics, its alerts, and the programs that it serves.

import { describeError } from '../../base/describe-error.ts';
import { Busy } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { makeQuietWarning } from '../../base/quiet-warning.ts';
import type { ProcessConfig, ProgramAddress } from '../../config/config.ts';
import { checkWorkerAccess } from '../../db/access/check-access.ts';
import { type Database, makeDatabase } from '../../db/database.ts';
import { withLock } from '../../db/locks/process-session.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { makeChannels } from '../../observe/alerts/channels.ts';
import { watchAlerts } from '../../observe/alerts/watch.ts';
import { makeFigureCache } from '../../observe/metrics/figure-cache.ts';
import { makeRecorder } from '../../observe/metrics/recorder.ts';
import { makeProgramSummaries } from '../../observe/program-summaries.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import { checkQueueSchema, findQueueSchema } from '../../worker/queue/queue-tables.ts';
import { makeStartRetry } from '../../worker/queue/start-retry.ts';
import { type RunningWorker, startWorker } from '../../worker/queue/start-worker.ts';
import { readListQueueId, readQueueId } from '../../worker/queue/worker-state.ts';
import { makeExportTurns } from '../../worker/sources/export-turns.ts';
import { type Lifetime, openScope } from '../lifetime.ts';
import type { OpenDatabase } from '../open-database.ts';
import type { Program } from '../program.ts';
import type { ProgramKeeper } from './keep-programs.ts';
import { observed, paged } from './seen-program.ts';
import { serveOne } from './serve-one.ts';
import { serveStatusPage } from './status-page.ts';
import { makeWorkerViews } from './views.ts';
import type { WorkingProgram } from './working-program.ts';

/** The process of a worker. */
export interface WorkProcess {
  readonly process: ProcessConfig;
  readonly database: OpenDatabase;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  /** Of the environment: the queue's schema is named after it. */
  readonly mirrorSchema: string;
}

interface WorkOptions {
  /** Called with every run that ended, in any state. */
  readonly onRun?: (run: RunSummary) => void;
  /** Whether the status page takes any free port if another process has the configured one. */
  readonly takesAnyPort?: boolean;
}

interface Work {
  /** The page's address; null if another process has the port. */
  readonly page: string | null;
  /** Aborts when the command is stopped, or with the error that ends the worker. */
  readonly over: AbortSignal;
}

/** What a worker serves: how it is named, checked and begun. */
interface Served {
  readonly programs: () => readonly WorkingProgram[];
  readonly fileProblems: () => readonly string[];
  readonly isListed?: (name: string | null) => boolean;
  /** Checks the tables that the worker cannot be without. */
  readonly checkTables: () => Promise<void>;
  readonly readQueueId: () => Promise<string>;
  /** `workerEnded` resolves once no job runs any more. `ended` throws what ends the worker. */
  readonly begin: (
    worker: RunningWorker,
    workerEnded: Promise<unknown>,
  ) => Promise<{ readonly ended: Promise<unknown> }>;
}

/**
 * Starts a worker for the program that the environment describes, for the life of the command.
 *
 * Throws: the error that keeps the worker from starting.
 */
export async function startWork(
  program: Program,
  address: ProgramAddress,
  { onRun, ...options }: WorkOptions = {},
): Promise<Work> {
  const { pool, db, mirrorSchema } = program;
  const recorder = makeRecorder();
  let isServing = false;
  const working: WorkingProgram = {
    program,
    recorder,
    condition: () => ({ state: isServing ? 'serving' : 'starting' }),
  };
  const queueSchema = findQueueSchema(program.process.redisUrl, mirrorSchema);
  const exportTurns = makeExportTurns();
  // Closed after the worker: its jobs use the program's API until they have stopped.
  const { lifetime, close } = openScope(program.lifetime);
  program.lifetime.onClose(close);
  const served: Served = {
    programs: () => [working],
    fileProblems: () => [],
    checkTables: () => checkSchema(pool, { schema: mirrorSchema }),
    readQueueId: () => readQueueId(db),
    async begin(worker) {
      const inScope = { ...program, lifetime };
      const serving = await serveOne(inScope, address, { worker, recorder, queueSchema, exportTurns, onRun });
      isServing = true;
      return serving;
    },
  };
  return await start(program, served, options);
}

/** Starts a worker for the programs of PROGRAMS_FILE. As startWork. */
export async function startListedWork(work: WorkProcess, keeper: ProgramKeeper): Promise<Work> {
  const queueSchema = findQueueSchema(work.process.redisUrl, work.mirrorSchema);
  const exportTurns = makeExportTurns();
  const served: Served = {
    ...keeper,
    checkTables: async () => {},
    readQueueId: () => readListQueueId(makeDatabase(work.database.shared.base), work.mirrorSchema),
    begin: async (worker, workerEnded) => ({
      ended: keeper.run({
        serve: (program, { config }, recorder) =>
          serveOne(program, config.program.address, { worker, recorder, queueSchema, exportTurns }),
        workerEnded,
      }),
    }),
  };
  return await start(work, served, {});
}

async function start(
  work: WorkProcess,
  served: Served,
  { takesAnyPort = false }: Pick<WorkOptions, 'takesAnyPort'>,
): Promise<Work> {
  const { log, lifetime, mirrorSchema } = work;
  const { redisUrl, staleAfterSeconds: maxAgeSeconds, mostJobs } = work.process;
  const { base } = work.database.shared;
  const db = makeDatabase(base);
  // The database has answered once: if it goes away from here on, the worker waits for it.
  const retry = makeStartRetry({ log }, lifetime.signal);
  const queue = { redisUrl, mirrorSchema, databaseUrl: work.database.url };
  const rights = { schema: mirrorSchema, queueSchema: findQueueSchema(redisUrl, mirrorSchema) };
  const checkAccess = () => checkWorkerAccess(base, rights);
  const checkTables = async () => {
    await served.checkTables();
    await checkQueueSchema(base, queue);
  };
  let worker: RunningWorker | null = null;
  const checkQueue = async () => {
    if (worker === null) throw new Busy('the worker is still starting');
    await worker.checkQueue();
  };
  const programs = () => served.programs().map((one) => observed(one));
  const figures = makeFigureCache();
  const isFileRefused = () => (served.isListed === undefined ? null : served.fileProblems().length > 0);
  const summaries = makeProgramSummaries(programs, { maxAgeSeconds });
  const page = await serveStatusPage(work, {
    ...makeWorkerViews(
      { programs, figures, db, log, worker: () => worker, isFileRefused },
      { maxAgeSeconds },
    ),
    checks: {
      database: () => base.query('select 1'),
      rights: checkAccess,
      migrations: checkTables,
      queue: checkQueue,
    },
    programs: () => served.programs().map((one) => paged(one, summaries)),
    fileProblems: served.fileProblems,
    takesAnyPort,
  });
  await retry(checkAccess);
  await retry(checkTables);

  const queueId = await retry(served.readQueueId);
  const { isListed } = served;
  const running = await startWorker(
    { db, log },
    { queue, queueId, mostJobs, signal: lifetime.signal, ...(isListed !== undefined && { isListed }) },
  );
  const broken = new AbortController();
  const breakWith = (error: unknown) => broken.abort(error);
  const { promise: workerEnded, resolve: noteEnd } = Promise.withResolvers<void>();
  const closing = new AbortController();
  let watching: Promise<unknown> = Promise.resolve();
  let serving: Promise<unknown> = Promise.resolve();
  lifetime.onClose(() => watching);
  lifetime.onClose(() => serving.catch(() => undefined));
  lifetime.onClose(() => stopInTime(running, log).finally(noteEnd));
  running.ended.catch(breakWith);
  serving = (await served.begin(running, workerEnded)).ended;
  serving.catch(breakWith);
  // Only now ready: a stop during the start ends with the signal's exit code.
  worker = running;

  // While the worker starts or stops its queue does not answer, and nothing is wrong.
  const warn = makeQuietWarning({ log }, 'alerts.failed');
  const channels = makeChannels(work.process.alerts);
  const { signal } = closing;
  watching = Promise.all([
    watchAlerts(
      {
        programs,
        figures,
        channels,
        checkQueue: running.checkQueue,
        warn,
        alone: makeAlone(db, mirrorSchema),
      },
      { signal, maxAgeSeconds },
    ),
    ...(isListed === undefined ? [] : [summaries.keep(signal)]),
  ]);
  lifetime.onClose(async () => closing.abort());
  return { page, over: AbortSignal.any([lifetime.signal, broken.signal]) };
}

/** Returns the function that runs work unless another worker of these programs is in it. */
function makeAlone(db: Database, mirrorSchema: string) {
  return async (work: () => Promise<void>): Promise<boolean> => {
    const { isHeldByOther } = await withLock(db, `alerts of the programs of ${mirrorSchema}`, work);
    return !isHeldByOther;
  };
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
