// The job source of scheduled exports.

import { checkRelations } from '../../exports/relation.ts';
import { parseCollectingTarget } from '../../exports/targets/target.ts';
import type { JobSource } from '../../worker/queue/job-source.ts';
import { makeExportSource } from '../../worker/sources/export-job.ts';
import type { ExportTurns } from '../../worker/sources/export-turns.ts';
import type { Program } from '../program.ts';

/**
 * Returns the source if EXPORT_CRON is set, else none.
 *
 * Throws: ConfigError if a relation of EXPORT_WHOLE or EXPORT_CHANGES cannot be exported.
 */
export async function makeExportSources(program: Program, turns: ExportTurns): Promise<readonly JobSource[]> {
  const { pool, mirrorSchema, money } = program;
  const { scheduledExports, s3 } = program.process;
  if (scheduledExports === null) return [];
  const { whole, changes } = scheduledExports;
  await checkRelations(pool, mirrorSchema, [
    ...whole.map((name) => ({ name, isForChanges: false })),
    ...changes.map((name) => ({ name, isForChanges: true })),
  ]);
  const target = parseCollectingTarget(scheduledExports.target, s3);
  return [makeExportSource({ ...program, turns }, { ...scheduledExports, mirrorSchema, money, target })];
}
