// The source `export`: after each tick of EXPORT_CRON, every table and view that is configured is exported once.
// The table exports says whether it was.

import type { Logger } from '../../base/log.ts';
import type { ScheduledExports } from '../../config/process/exports.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import { exportRecorded, type RecordedDeps, readLastExport } from '../../exports/recorded-export.ts';
import type { CollectingTarget } from '../../exports/targets/target.ts';
import {
  type Item,
  type JobContext,
  type JobOutcome,
  type JobSource,
  PRIORITY,
} from '../queue/job-source.ts';
import { lastTick } from '../queue/schedules.ts';
import type { ExportTurns } from './export-turns.ts';

const NAME = 'export';
/** The wait while another process exports it. */
const BUSY_MS = 30_000;
/** While many exports wait for their turn, a job asks again after a quarter of its age, and after this at first. */
const SHORTEST_WAIT_MS = 1000;

export interface ExportSourceDeps extends RecordedDeps {
  readonly log: Logger;
  /** Of the process. */
  readonly turns: ExportTurns;
}

export interface ExportSourceOptions extends Omit<ScheduledExports, 'target'> {
  readonly mirrorSchema: string;
  readonly money: MoneyFormat;
  readonly target: CollectingTarget;
}

/** Returns the source. An export that was given up is due again with the next tick. */
export function makeExportSource(deps: ExportSourceDeps, options: ExportSourceOptions): JobSource {
  const { mirrorSchema, money, target, format, whole, changes, pattern, timezone } = options;
  const schedule = { name: NAME, pattern, timezone };
  const objects = [
    ...whole.map((name) => ({ name, isForChanges: false })),
    ...changes.map((name) => ({ name, isForChanges: true })),
  ];
  const run = async (object: (typeof objects)[number], context: JobContext): Promise<JobOutcome> => {
    const turn = deps.turns.take(schedule, context.signal, () => exportOne(object, context));
    if (turn !== null) return turn;
    return { kind: 'later', waitMs: Math.min(BUSY_MS, Math.max(SHORTEST_WAIT_MS, context.waitedMs / 4)) };
  };
  const exportOne = async (object: (typeof objects)[number], { signal }: JobContext): Promise<JobOutcome> => {
    signal.throwIfAborted();
    const input = { ...object, mirrorSchema, money, target, format, isByDay: false, signal };
    const outcome = await exportRecorded(deps, input);
    if (outcome.kind === 'busy') return { kind: 'later', waitMs: BUSY_MS };
    const { manifest, location } = outcome.exported;
    if (location !== null) {
      deps.log.info({ object: object.name, rows: manifest.rows, location }, 'export.written');
    }
    return { kind: 'done' };
  };
  return {
    name: NAME,
    needsProgram: false,
    schedules: [schedule],
    async findDue(moment) {
      const tickMs = lastTick(schedule, moment);
      if (tickMs === null) return [];
      const due: Item[] = [];
      for (const object of objects) {
        const lastMs = await readLastExport(moment.db, { ...object, mirrorSchema, target });
        if (lastMs !== null && lastMs >= tickMs) continue;
        const subject = [NAME, object.isForChanges ? 'changes' : 'whole', object.name]
          .join('-')
          .replace(/[^\w-]/g, '-')
          .replaceAll('_', '-');
        due.push({
          id: `${subject}-${tickMs}`,
          subject,
          priority: PRIORITY.upkeep,
          run: (context) => run(object, context),
        });
      }
      return due;
    },
  };
}
