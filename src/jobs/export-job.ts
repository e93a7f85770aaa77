// The duty `export`: after each tick of EXPORT_CRON, every table and view that is configured is exported once. Whether
// it was, the table exports says.

import type { ScheduledExports } from '../config/exports.ts';
import { exportRecorded, type RecordedDeps, readLastExport } from '../exports/recorded-export.ts';
import type { CollectingTarget } from '../exports/targets/target.ts';
import type { Logger } from '../log.ts';
import type { Due, Duty, JobContext, JobOutcome } from '../queue/duty.ts';
import { lastTick } from '../queue/schedules.ts';

const NAME = 'export';
/** Another process's export is looked at again after this. */
const BUSY_MS = 30_000;

export interface ExportDutyDeps extends RecordedDeps {
  readonly log: Logger;
}

export interface ExportDutyOptions extends Omit<ScheduledExports, 'target'> {
  readonly mirrorSchema: string;
  readonly target: CollectingTarget;
}

/** Returns the duty. An export that was given up is due again with the next tick. */
export function makeExportDuty(deps: ExportDutyDeps, options: ExportDutyOptions): Duty {
  const { mirrorSchema, target, format, whole, changes, pattern, timezone } = options;
  const schedule = { name: NAME, pattern, timezone };
  const objects = [
    ...whole.map((name) => ({ name, isForChanges: false })),
    ...changes.map((name) => ({ name, isForChanges: true })),
  ];
  const run = async (object: (typeof objects)[number], { signal }: JobContext): Promise<JobOutcome> => {
    const input = { ...object, mirrorSchema, target, format, isByDay: false, signal };
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
    alarms: [schedule],
    async findDue(moment) {
      const tickMs = lastTick(schedule, moment);
      if (tickMs === null) return [];
      const due: Due[] = [];
      for (const object of objects) {
        const lastMs = await readLastExport(deps.db, { ...object, mirrorSchema, target });
        if (lastMs !== null && lastMs >= tickMs) continue;
        const subject = [NAME, object.isForChanges ? 'changes' : 'whole', object.name]
          .join('-')
          .replace(/[^\w-]/g, '-')
          .replaceAll('_', '-');
        due.push({
          id: `${subject}-${tickMs}`,
          subject,
          atMs: tickMs,
          run: (context) => run(object, context),
        });
      }
      return due;
    },
  };
}
