// The command `work`: schedules, queue and health in one process, until it is stopped.

import type { Command } from 'commander';
import { makeChannels } from '../../alerts/channels.ts';
import { type WatchDeps, watchAlerts } from '../../alerts/watch.ts';
import type { ApiClient } from '../../api/client.ts';
import { drainConcurrency } from '../../commissions/writer/drain-concurrency.ts';
import type { Config } from '../../config/config.ts';
import { checkWorkerAccess } from '../../db/check-access.ts';
import { checkSchema, refuseNewerSchema } from '../../db/check-schema.ts';
import { describeError } from '../../describe-error.ts';
import { Busy } from '../../errors.ts';
import { makeCommissionsDuty, wakeForCommissions } from '../../jobs/commissions-job.ts';
import { makeListDuty } from '../../jobs/list-job.ts';
import { makePollDuty } from '../../jobs/poll-job.ts';
import { makeRetentionDuty } from '../../jobs/retention-job.ts';
import { makeSchedules, makeSyncDuty, type SyncDutyDeps } from '../../jobs/sync-job.ts';
import { type Logger, makeLogger } from '../../log.ts';
import { probeAccount } from '../../mirror/account.ts';
import { noteListSetting } from '../../mirror/commission-list.ts';
import { readState, refuseOtherSettings } from '../../personal-data/stored-state.ts';
import type { Duty } from '../../queue/duty.ts';
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
import { makeExportDuties } from '../worker/scheduled-exports.ts';
import { serveStatusPage } from '../worker/status-page.ts';

const HELP = `
Syncs on schedule (SYNC_FULL_CRON, SYNC_DELTA_CRON, SYNC_TIMEZONE), applies the commission updates that are asked for,
asks for the known commissions again, exports what EXPORT_CRON and its kin name, sends alerts (ALERT_WEBHOOK_URL,
ALERT_EMAIL) and deletes what is over age (RETENTION_RUNS_DAYS and its kin); any number of workers side by side. Needs
the tables: run "affiliate-mirror migrate" first.
The status page is served at STATUS_HOST:STATUS_PORT, and /metrics, /healthz and /readyz with it; a worker that finds the
port taken says so, and works without them. Any STATUS_HOST but this machine needs STATUS_PASSWORD.
A Postgres that never answers, or a clock that is 10 s off the database's, ends it with exit code 1; a Postgres that goes
away later is waited for.
Ctrl-C, SIGTERM or SIGHUP: what is under way commits, its jobs go back to the queue, and it ends; a second one ends it
at once.

The queue is kept in the same Postgres, which is enough for workers on one machine; set REDIS_URL for a fleet.`;

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
  // prom-client brings the interfaces of OpenTelemetry, which no other command needs.
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
  await patiently(() => noteListSetting(db, config.commissionList));
  const exportDuties = await patiently(() => makeExportDuties({ pool, db, log }, config));

  const clients = makeClients({ db, log, lifetime, meter }, { ...program, timeoutMs, rateLimit });
  const duties = makeDuties({ clients, db, log, treatment, meter }, config);
  const probe = async (signal: AbortSignal) => {
    await probeAccount({ api: clients.probe, db }, { signal });
  };
  const checkMirror = async () => {
    await refuseNewerSchema(pool, { schema: mirrorSchema });
    refuseOtherSettings(config.personalData, await readState(db));
  };
  worker = await startWorker(
    { db, log, probe, checkMirror },
    { queue, duties: [...duties, ...exportDuties], signal: lifetime.signal },
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
function makeDuties(
  { clients, db, log, treatment, meter }: Required<Omit<SyncDutyDeps, 'api'>> & { readonly clients: Clients },
  { api: { rateLimit }, schedules, amountUnit, commissionList, retention }: Config,
): readonly Duty[] {
  return [
    makeSyncDuty(
      { api: clients.reads, db, log, treatment, meter },
      { schedules: makeSchedules(schedules) },
      TIMINGS,
    ),
    makeCommissionsDuty(
      { api: clients.payments, db, log, treatment, amountUnit },
      { concurrency: drainConcurrency(rateLimit) },
    ),
    makePollDuty({ api: clients.reads, db, log, treatment }),
    makeListDuty({ api: clients.probe, db, log }, commissionList),
    makeRetentionDuty({ db, log }, retention),
  ];
}

function watchOver(
  { db, log, lifetime, checkQueue }: Pick<WatchDeps, 'db' | 'log' | 'checkQueue'> & { lifetime: Lifetime },
  config: Config,
  signal: AbortSignal,
): void {
  const warn = makeQuietWarning({ log }, 'alerts.failed');
  const watching = watchAlerts(
    {
      db,
      log,
      channels: makeChannels(config.alerts),
      checkQueue,
      readGrowth: async () => readGrowth(db, { space: await readDiskSpace(config) }),
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
