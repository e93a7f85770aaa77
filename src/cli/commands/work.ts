// The command `work`: schedules, queue and health in one process, until it is stopped.

import type { Command } from 'commander';
import { makeChannels } from '../../alerts/channels.ts';
import { type WatchDeps, watchAlerts } from '../../alerts/watch.ts';
import type { ApiClient } from '../../api/client.ts';
import { drainConcurrency } from '../../commissions/writer/drain-concurrency.ts';
import type { Config } from '../../config/config.ts';
import { checkWorkerAccess } from '../../db/check-access.ts';
import { checkSchema } from '../../db/check-schema.ts';
import { describeError } from '../../describe-error.ts';
import { Busy } from '../../errors.ts';
import { makeCommissionsSource, wakeForCommissions } from '../../jobs/commissions-job.ts';
import { makeListsSource } from '../../jobs/list-job.ts';
import { makePollSource } from '../../jobs/poll-job.ts';
import { probeProgram } from '../../jobs/probe-program.ts';
import { makeRetentionSource } from '../../jobs/retention-job.ts';
import { makeSchedules, makeSyncSource, type SyncSourceDeps } from '../../jobs/sync-job.ts';
import { type Logger, makeLogger } from '../../log.ts';
import { noteListSettings } from '../../mirror/optional-lists.ts';
import { readState, refuseOtherSettings } from '../../personal-data/stored-state.ts';
import type { JobSource } from '../../queue/job-source.ts';
import { makePatiently } from '../../queue/patiently.ts';
import { checkQueueSchema, queueSchema } from '../../queue/queue-tables.ts';
import { makeQuietWarning } from '../../queue/quiet-warning.ts';
import { type RunningWorker, startWorker } from '../../queue/start-worker.ts';
import { TIMINGS } from '../../queue/timings.ts';
import { readGrowth } from '../../reports/read-growth.ts';
import type { Cli } from '../cli.ts';
import { readCliProgramConfig } from '../configuration.ts';
import { refuseDemoMirror } from '../demo/mark.ts';
import { readDiskSpace } from '../disk-space.ts';
import type { ExitCode } from '../exit-code.ts';
import { type Lifetime, untilStopped } from '../lifetime.ts';
import { openDatabase } from '../open-database.ts';
import { openTreatment } from '../personal-data.ts';
import { type ClientDeps, type ClientOptions, makeProgramClient } from '../program-client.ts';
import { openTracing } from '../tracing.ts';
import { makeExportSources } from '../worker/scheduled-exports.ts';
import { serveStatusPage } from '../worker/status-page.ts';

const HELP = `
Syncs on schedule, applies the commission updates that are asked for, exports, sends alerts, and deletes what is over
age, as the configuration says; any number of workers side by side. Serves the status page at STATUS_HOST:STATUS_PORT.
Needs the tables: run "affiliate-mirror migrate" first.
Ctrl-C, SIGTERM or SIGHUP: what is under way commits, its jobs go back to the queue, and it ends; a second one ends it
at once.

The queue is kept in the same Postgres, which is enough for workers on one machine; set REDIS_URL for a fleet.
All of it: docs/operations.md`;

export function registerWork(root: Command, cli: Cli): void {
  root
    .command('work')
    .description('keep the mirror up to date, on schedule, until it is stopped')
    .addHelpText('after', HELP)
    .action(() => cli.run((lifetime) => work(cli, lifetime)));
}

async function work(cli: Cli, lifetime: Lifetime): Promise<ExitCode> {
  const { config, program } = readCliProgramConfig(cli, { servesPage: true, isLogging: true });
  const { mirrorSchema, redisUrl } = config;
  const { rateLimit, timeoutMs } = config.api;
  const log = makeLogger(config.logLevel);
  await openTracing({ log, lifetime }, config);
  const { pool, db, url } = await openDatabase({ log, lifetime }, config, 'work');
  // It has answered: where it goes away from here on, the worker waits for it.
  const patiently = makePatiently({ log }, lifetime.signal);
  const queue = { redisUrl, mirrorSchema, databaseUrl: url };
  const rights = { schema: mirrorSchema, queueSchema: redisUrl === null ? queueSchema(mirrorSchema) : null };
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
  const { amountUnit, staleAfterSeconds: maxAgeSeconds } = config;
  const readSpace = () => readDiskSpace(config);
  const pageDeps = { db, mirrorSchema, amountUnit, maxAgeSeconds, readSpace };
  const { makeWorkerViews } = await import('../worker/views.ts');
  const views = makeWorkerViews({ ...pageDeps, log, worker: () => worker }, { maxAgeSeconds, rateLimit });
  const { recorder: meter } = views;
  await serveStatusPage(
    {
      log,
      lifetime,
      checks,
      pageDeps: () => pageDeps,
      readMetrics: views.readMetrics,
      registerBoard: views.registerBoard,
    },
    config,
  );
  await patiently(checkAccess);
  await patiently(() => refuseDemoMirror(pool, mirrorSchema, program.url));
  await patiently(checkTables);
  const treatment = await patiently(() => openTreatment(db, config.personalData));
  await patiently(() => noteListSettings(db, config.optionalLists));
  const exportSources = await patiently(() => makeExportSources({ pool, db, log }, config));

  const clients = makeClients({ db, log, lifetime, meter }, { ...program, timeoutMs, rateLimit });
  const sources = makeSources({ clients, db, log, treatment, meter }, config);
  const probe = (signal: AbortSignal) => probeProgram({ api: clients.probe, db }, signal);
  const checkMirror = async () => {
    await checkSchema(pool, { schema: mirrorSchema });
    refuseOtherSettings(config.personalData, await readState(db));
  };
  worker = await startWorker(
    { db, log, probe, checkMirror },
    { queue, sources: [...sources, ...exportSources], signal: lifetime.signal },
  );
  const running = worker;
  const over = new AbortController();
  // While the worker starts or stops its queue does not answer, and nothing is wrong.
  watchOver({ db, log, lifetime, checkQueue: running.checkQueue }, config, over.signal);
  lifetime.onClose(() => stopInTime(running, log));
  const listening = wakeForCommissions({ worker, pool, log }, { mirrorSchema }, over.signal);
  lifetime.onClose(() => {
    over.abort();
    return listening;
  });
  await untilOver(worker, lifetime.signal);
  log.info('worker.stopping');
  return 0;
}

type Clients = Readonly<Record<'reads' | 'payments' | 'probe', ApiClient>>;

function makeClients(deps: ClientDeps, options: Omit<ClientOptions, 'priority'>): Clients {
  const reads = { ...options, priority: 'reads' } as const;
  return {
    reads: makeProgramClient(deps, reads),
    payments: makeProgramClient(deps, { ...options, priority: 'payments' }),
    // Asks once: it is asked again anyway.
    probe: makeProgramClient(deps, { ...reads, attempts: { most: 1, mostThrottled: 1 } }),
  };
}

/** Returns what every worker does, whatever is configured. */
function makeSources(
  {
    clients,
    db,
    log,
    treatment,
    meter,
  }: Required<Omit<SyncSourceDeps, 'api'>> & { readonly clients: Clients },
  { api: { rateLimit }, schedules, amountUnit, optionalLists, retention }: Config,
): readonly JobSource[] {
  return [
    makeCommissionsSource(
      { api: clients.payments, db, log, treatment, amountUnit },
      { concurrency: drainConcurrency(rateLimit) },
    ),
    makeSyncSource(
      { api: clients.reads, db, log, treatment, meter },
      { schedules: makeSchedules(schedules) },
      TIMINGS,
    ),
    makePollSource({ api: clients.reads, db, log, treatment }),
    makeListsSource({ api: clients.probe, db, log }, optionalLists),
    makeRetentionSource({ db, log }, retention),
  ];
}

function watchOver(
  { db, log, lifetime, checkQueue }: Pick<WatchDeps, 'db' | 'log' | 'checkQueue'> & { lifetime: Lifetime },
  config: Config,
  signal: AbortSignal,
): void {
  const { mirrorSchema } = config;
  const warn = makeQuietWarning({ log }, 'alerts.failed');
  const watching = watchAlerts(
    {
      db,
      mirrorSchema,
      log,
      channels: makeChannels(config.alerts),
      checkQueue,
      readGrowth: async () => {
        const { growth } = await readGrowth({ db, mirrorSchema, readSpace: () => readDiskSpace(config) });
        return growth;
      },
      warn,
    },
    { signal, maxAgeSeconds: config.staleAfterSeconds },
  );
  lifetime.onClose(() => watching);
}

async function untilOver({ ended }: RunningWorker, signal: AbortSignal): Promise<void> {
  const broken = new AbortController();
  ended.catch((error: unknown) => broken.abort(error));
  await untilStopped(AbortSignal.any([signal, broken.signal]));
  broken.signal.throwIfAborted();
}

// What hangs then is a server that does not answer; whoever takes the jobs over goes on at their checkpoints.
async function stopInTime(worker: RunningWorker, log: Logger): Promise<void> {
  try {
    await worker.stop();
  } catch (error) {
    log.error({ reason: describeError(error) }, 'worker.killed');
    process.exit(1);
  }
}
