// The job source of scheduled exports.

import { ConfigError } from '../../base/errors.ts';
import { targetOf } from '../../config/process/export-target.ts';
import { checkRelations } from '../../exports/relation.ts';
import { parseCollectingTarget } from '../../exports/targets/target.ts';
import type { JobSource } from '../../worker/queue/job-source.ts';
import { makeExportSource } from '../../worker/sources/export-job.ts';
import type { ExportTurns } from '../../worker/sources/export-turns.ts';
import type { Program } from '../program.ts';

/**
 * Returns the source if EXPORT_CRON is set, else none.
 *
 * Throws: ConfigError if a relation of EXPORT_WHOLE or EXPORT_CHANGES cannot be exported, or if EXPORT_TARGET has no
 * place for the name of a listed program.
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
  const target = parseCollectingTarget(chooseTarget(program, scheduledExports.target), s3);
  return [makeExportSource({ ...program, turns }, { ...scheduledExports, mirrorSchema, money, target })];
}

function chooseTarget({ name }: Program, words: string): string {
  const target = name === null ? words : targetOf(words, name);
  if (target !== null) return target;
  throw new ConfigError([
    'EXPORT_TARGET must have {program} in it, such as exports/{program}/: with PROGRAMS_FILE, each program needs a place of its own',
  ]);
}
