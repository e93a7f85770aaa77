// Stores what a run noticed of drift from the contract. Knows the table, not how drift is noticed.

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
