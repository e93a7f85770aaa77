// The job source of a worker that exports by itself, where EXPORT_CRON is set.

import type { Pool } from 'pg';
import type { Config } from '../../config/config.ts';
import type { ScheduledExports } from '../../config/exports.ts';
import type { Database } from '../../db/database.ts';
import { checkRelations } from '../../exports/relation.ts';
import { parseCollectingTarget } from '../../exports/targets/target.ts';
import { makeExportSource } from '../../jobs/export-job.ts';
import type { Logger } from '../../log.ts';
import type { JobSource } from '../../queue/job-source.ts';

/** Returns it, or none. Throws: ConfigError where EXPORT_WHOLE or EXPORT_CHANGES names what cannot be exported. */
export async function makeExportSources(
  deps: { pool: Pool; db: Database; log: Logger },
  { scheduledExports, s3, mirrorSchema }: Pick<Config, 'scheduledExports' | 's3' | 'mirrorSchema'>,
): Promise<readonly JobSource[]> {
  if (scheduledExports === null) return [];
  await checkScheduledExports(deps.pool, mirrorSchema, scheduledExports);
  const target = parseCollectingTarget(scheduledExports.target, s3);
  return [makeExportSource(deps, { ...scheduledExports, mirrorSchema, target })];
}

/** Throws: ConfigError where EXPORT_WHOLE or EXPORT_CHANGES names what cannot be exported. */
export async function checkScheduledExports(
  pool: Pool,
  mirrorSchema: string,
  { whole, changes }: ScheduledExports,
): Promise<void> {
  await checkRelations(pool, mirrorSchema, [
    ...whole.map((name) => ({ name, isForChanges: false })),
    ...changes.map((name) => ({ name, isForChanges: true })),
  ]);
}
