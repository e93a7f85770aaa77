// Syncs one program: its tables, its clients, and a run of each resource.

import type { ListedResource } from '../../contract/resources.ts';
import { checkParts } from '../../db/migrate/check-parts.ts';
import { checkSchema, runMigrations } from '../../db/migrate/migrate.ts';
import type { RunSummary, SyncMode, SyncProgress } from '../../sync/run-summary.ts';
import { runSync } from '../../sync/run-sync.ts';
import { type ConnectedProgram, connectProgram } from '../connect-program.ts';
import { Stopped } from '../lifetime.ts';
import { printError } from '../output/print.ts';
import { makeProgress } from '../output/progress.ts';
import { type Program, startOf } from '../program.ts';
import { asListError, chooseResources, type FindLists, makeFindLists } from './find-lists.ts';
import { describeReached, type Reached, readProgress } from './outcome.ts';

export interface SyncFlags {
  readonly mode: SyncMode;
  readonly migrate?: true;
  readonly acceptDeletes?: true;
  readonly acceptProgram?: true;
  readonly json?: true;
}

/** Returns the program with its clients, its tables made or checked. Throws: what `connectProgram` throws. */
export function connect(
  program: Program,
  flags: SyncFlags & { readonly isWatched: boolean },
): Promise<ConnectedProgram> {
  const { address } = program;
  if (address === null) throw new TypeError('the configuration was read without an address');
  return connectProgram(program, address, {
    isWatched: flags.isWatched,
    mayAdopt: flags.migrate === true,
    prepare: () => prepareTables(program, flags),
  });
}

export interface Following extends SyncFlags {
  readonly isWatched: boolean;
  /** Filled while it works. */
  readonly reached: Reached;
  readonly onRun?: (run: RunSummary) => void;
}

/**
 * Syncs the resources, one after the other.
 *
 * Throws: the error of a run; Stopped, with how far it came.
 */
export async function syncAll(
  program: ConnectedProgram,
  resources: readonly ListedResource[],
  { reached, onRun, ...flags }: Following,
): Promise<void> {
  const { lifetime, log, budgetWait, clients } = program;
  const view = makeProgress({
    budgetWait,
    isWatched: flags.isWatched,
    logProgress: (fields) => log.info(fields, 'sync.progress'),
  });
  lifetime.onClose(async () => view.finish());
  const deps = {
    ...program,
    api: clients.reads,
    onProgress: (progress: SyncProgress) => {
      reached.last = progress;
      view.show(readProgress(progress));
    },
    onStopped: (run: RunSummary) => reached.stopped.push(run),
  };
  const askForLists = makeFindLists(program, clients.probe);
  try {
    await syncEach(
      {
        findLists: async (lists) => {
          const found = await askForLists(lists);
          for (const [resource, problem] of found.problems) {
            if (!found.used.includes(resource)) reached.unsaid.set(resource, problem);
          }
          return found;
        },
        syncOne: async (resource) => {
          const how = {
            mode: flags.mode,
            acceptDeletes: flags.acceptDeletes === true,
            acceptProgram: flags.acceptProgram === true,
            signal: lifetime.signal,
          };
          const run = await runSync(deps, { resource, ...how }).catch((error: unknown) => {
            throw asListError(error, resource, program);
          });
          reached.runs.push(run);
          reached.last = null;
          view.finish();
          onRun?.(run);
          return run;
        },
      },
      { resources, mode: flags.mode, start: startOf(program) },
    );
  } catch (error) {
    throw error instanceof Stopped ? error.saying(describeReached(reached.last)) : error;
  } finally {
    view.finish();
  }
}

async function prepareTables(program: Program, { migrate }: SyncFlags): Promise<void> {
  const { name, pool, mirrorSchema, lifetime } = program;
  if (migrate === true) {
    await runMigrations(pool, { schema: mirrorSchema, signal: lifetime.signal });
    if (name === null) await migrateQueueOf(program, mirrorSchema);
    await checkParts(pool, mirrorSchema);
  }
  await checkSchema(pool, { schema: mirrorSchema });
}

/** Of listed programs, one queue for all. */
export async function migrateQueueOf(
  { pool, process, database }: Program,
  mirrorSchema: string,
): Promise<void> {
  // BullMQ takes a fifth of the start-up, and only its tables need it here.
  const { migrateQueue } = await import('../../worker/queue/queue-tables.ts');
  await migrateQueue(pool, { redisUrl: process.redisUrl, mirrorSchema, databaseUrl: database.url });
}

async function syncEach(
  deps: { findLists: FindLists; syncOne: (resource: ListedResource) => Promise<RunSummary> },
  { resources, mode, start }: { resources: readonly ListedResource[]; mode: SyncMode; start: string },
): Promise<void> {
  let hasCounters = true;
  for await (const resource of chooseResources(resources, mode, deps.findLists)) {
    if (resource === 'referrals' && !hasCounters) continue;
    const run = await deps.syncOne(resource);
    if (mode === 'delta' && resource === 'affiliates' && run.state === 'skipped') {
      // Older counters than those of the other process's run would hide changes from the delta.
      printError(`affiliate-mirror: ${start}without the affiliates, no delta of referrals`);
      hasCounters = false;
    }
  }
}
