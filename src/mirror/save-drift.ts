// Stores where a run saw records differ from the contract (schema_drift).

import type { Database, DatabaseTransaction } from '../db/database.ts';
import type { Drift } from '../records/drift-watch.ts';

/** Stores the findings of a run. Idempotent: yes; later findings replace earlier ones of the same field and kind. */
export async function saveDrift(
  database: Database | DatabaseTransaction,
  { runId, resource }: { runId: number; resource: string },
  findings: readonly Drift[],
): Promise<void> {
  if (findings.length === 0) return;
  await database
    .insertInto('schema_drift')
    .values(findings.map((drift) => ({ run_id: runId, resource, ...drift })))
    .onConflict((conflict) =>
      conflict.columns(['run_id', 'resource', 'field', 'kind']).doUpdateSet((eb) => ({
        found: eb.ref('excluded.found'),
        occurrences: eb.ref('excluded.occurrences'),
      })),
    )
    .execute();
}
