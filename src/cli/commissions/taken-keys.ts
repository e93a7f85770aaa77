// Finds the rows of a payout file whose key is that of another request already: the table would refuse the whole batch
// because of the first of them, and would not know its line.

import type { BatchFile } from '../../commissions/files/batch-file.ts';
import { findRequested } from '../../commissions/requests/request-updates.ts';
import { quote } from '../../commissions/timestamps.ts';
import type { Database } from '../../db/database.ts';

/** Returns the file with those rows as problems of their lines. Only looks at keys that the file itself names. */
export async function refuseTakenKeys(db: Database, batch: BatchFile): Promise<BatchFile> {
  const named = batch.rows.filter(({ hasOwnKey }) => hasOwnKey);
  const before = await findRequested(
    db,
    named.map(({ request }) => request),
  );
  const taken = named.flatMap(({ line, request: { idempotency_key } }) => {
    const earlier = before.get(idempotency_key ?? '');
    if (earlier === undefined || earlier.isSame) return [];
    const { id, action, commission_id } = earlier;
    return [
      {
        line,
        problem: `the idempotency_key ${quote(idempotency_key ?? '')} is that of request ${id} already (${action} of commission ${commission_id}): give this row a key of its own, or none`,
      },
    ];
  });
  const lines = new Set(taken.map(({ line }) => line));
  return {
    ...batch,
    rows: batch.rows.filter(({ line }) => !lines.has(line)),
    problems: [...batch.problems, ...taken].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  };
}
