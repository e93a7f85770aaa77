// Serves one program in a worker: checks its tables, connects it to its API, and gives its job sources to the queue.

import type { ProgramAddress } from '../../config/config.ts';
import { checkWorkerAccess } from '../../db/access/check-access.ts';
import { asClient } from '../../db/as-client.ts';
import type { Database } from '../../db/database.ts';
import { listen } from '../../db/locks/process-session.ts';
import { checkSchema } from '../../db/migrate/migrate.ts';
import { noteListSettings } from '../../mirror/optional-lists.ts';
import { readState, refuseOtherSettings } from '../../mirror/people/stored-state.ts';
import type { Recorder } from '../../observe/metrics/recorder.ts';
import { COMMISSION_UPDATES_CHANNEL } from '../../payments/ask/request-updates.ts';
import { writerConcurrency } from '../../payments/write/writer-concurrency.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import type { JobSource } from '../../worker/queue/job-source.ts';
import type { Serving } from '../../worker/queue/served-program.ts';
import { makeStartRetry } from '../../worker/queue/start-retry.ts';
import type { RunningWorker } from '../../worker/queue/start-worker.ts';
import { TIMINGS } from '../../worker/queue/timings.ts';
import { makeCommissionsSource } from '../../worker/sources/commissions-job.ts';
import type { ExportTurns } from '../../worker/sources/export-turns.ts';
import { makeListsSource } from '../../worker/sources/list-job.ts';
import { makePollSource } from '../../worker/sources/poll-job.ts';
import { probeProgram } from '../../worker/sources/probe-program.ts';
import { makeRetentionSource } from '../../worker/sources/retention-job.ts';
import { makeSchedules, makeSyncSource, type RunMeter } from '../../worker/sources/sync-job.ts';
import { type ConnectedProgram, connectProgram } from '../connect-program.ts';
import type { Program } from '../program.ts';
import { makeExportSources } from './scheduled-exports.ts';

export interface ServeDeps {
  readonly worker: RunningWorker;
  readonly recorder: Recorder;
  /** In which the queue is; null if it is in Redis. */
  readonly queueSchema: string | null;
  readonly exportTurns: ExportTurns;
  /** Called with every run that ended, in any state. */
  readonly onRun?: ((run: RunSummary) => void) | undefined;
}

/**
 * Serves the program until its lifetime ends. While the database is away, it waits.
 *
 * Throws: SchemaMismatch, AccessRefused, PersonalDataMismatch or ConfigError if the program cannot be served as it is.
 */
export async function serveOne(
  program: Program,
  address: ProgramAddress,
  { worker, recorder, queueSchema, exportTurns, onRun }: ServeDeps,
): Promise<Serving> {
  const { name, pool, db, log, lifetime, mirrorSchema: schema } = program;
  const retry = makeStartRetry({ log }, lifetime.signal);
  await retry(() => checkWorkerAccess(pool, { schema, queueSchema }));
  const connected = await connectProgram(program, address, {
    isWatched: false,
    meter: recorder,
    prepare: () => retry(() => checkSchema(pool, { schema })),
    retry,
  });
  await retry(() => noteListSettings(db, program.optionalLists));
  const exportSources = await retry(() => makeExportSources(program, exportTurns));
  const meter = {
    ...recorder,
    ended: (run: RunSummary) => {
      recorder.ended(run);
      onRun?.(run);
    },
  };
  const checkMirror = async (asked: Database) => {
    await checkSchema(asClient(asked), { schema });
    refuseOtherSettings(program.personalData, await readState(asked));
  };
  const probe = (signal: AbortSignal) => probeProgram({ api: connected.clients.probe, db }, signal);
  const sources = [...makeSources(connected, meter), ...exportSources];
  const serving = await worker.serve({ name, db, log, probe, checkMirror, sources }, lifetime.signal);
  listenForPayments(program, serving.wake);
  return serving;
}

// Payments begin at once: the notification is sent with the commit that asks for them.
function listenForPayments({ db, lifetime, mirrorSchema }: Program, wake: () => void): void {
  const closing = new AbortController();
  const input = { channel: COMMISSION_UPDATES_CHANNEL, payload: mirrorSchema, onNotified: () => wake() };
  const listening = listen(db, input, closing.signal);
  lifetime.onClose(() => {
    closing.abort();
    return listening;
  });
}

/** Returns the sources of every program. */
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
