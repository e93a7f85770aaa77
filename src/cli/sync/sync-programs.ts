// Syncs the programs of PROGRAMS_FILE: several at once, since each waits for its own budget most of the time.

import { inTrace } from '../../base/span.ts';
import { counted, formatCount } from '../../contract/format.ts';
import type { ListedResource } from '../../contract/resources.ts';
import type { RunSummary } from '../../sync/run-summary.ts';
import type { ExitCode } from '../exit-code.ts';
import type { Lifetime } from '../lifetime.ts';
import { inScope, type Worked, type WorkedOn, workOnEach } from '../many-programs.ts';
import { print, printJson } from '../output/print.ts';
import { type Program, startOf } from '../program.ts';
import {
  conclude,
  documentOfRuns,
  makeReached,
  noteBlindSpots,
  type Reached,
  syncProgramsDocument,
} from './outcome.ts';
import { describeRun } from './render-runs.ts';
import { connect, migrateQueueOf, type SyncFlags, syncAll } from './sync-program.ts';

/** Programs. */
const SYNCED_AT_ONCE = 8;

/** A line for each run: a line that is drawn again has no room for several. */
export async function syncPrograms(
  programs: readonly [Program, ...Program[]],
  input: { resources: readonly ListedResource[]; lifetime: Lifetime; queue: string },
  flags: SyncFlags,
): Promise<ExitCode> {
  const { resources, lifetime, queue } = input;
  const isJson = flags.json === true;
  const all = new Map<Program, Reached>();
  if (flags.migrate === true) await migrateQueueOf(programs[0], queue);
  const how = { signal: lifetime.signal, concurrency: SYNCED_AT_ONCE };
  const { exitCode, results } = await workOnEach(programs, how, (program) =>
    inScope(lifetime, async (scoped) => {
      const { name, mirrorSchema } = program;
      const attributes = { mode: flags.mode, program: name ?? mirrorSchema };
      const reached = makeReached();
      all.set(program, reached);
      await inTrace('sync', { attributes }, async () => {
        const connected = await connect({ ...program, lifetime: scoped }, { ...flags, isWatched: false });
        const onRun = (run: RunSummary) => {
          if (!isJson) print(`${startOf(program)}${describeRun(run)}`);
        };
        const how = { ...flags, isWatched: false, reached, onRun };
        await syncAll(connected, resources, how).finally(() => noteBlindSpots(reached, startOf(program)));
      });
      return { exitCode: conclude(reached, startOf(program)), document: null };
    }),
  );
  if (isJson) {
    const documents = results.flatMap(({ program, failure: error }) => {
      const reached = all.get(program);
      return reached === undefined ? [] : [{ program: program.name, error, ...documentOfRuns(reached) }];
    });
    printJson(syncProgramsDocument.parse({ programs: documents }));
  } else print(describeSynced(results));
  return exitCode;
}

/** Returns the line of sums, with the names of those that failed. */
function describeSynced(results: readonly WorkedOn<Program, Worked<unknown>>[]): string {
  const failed = results.filter(({ failure }) => failure !== null).map(({ program }) => program.name);
  const doubtful = results.filter(({ worked }) => worked !== null && worked.exitCode !== 0);
  const synced = results.filter(({ worked }) => worked !== null).length;
  return [
    `${counted(results.length, 'program')}: ${formatCount(synced)} synced`,
    ...(doubtful.length === 0
      ? []
      : [`${doubtful.map(({ program }) => program.name).join(', ')} with doubts`]),
    ...(failed.length === 0 ? [] : [`${formatCount(failed.length)} failed: ${failed.join(', ')}`]),
  ].join('; ');
}
