// The mirror's status: how fresh each resource is, what the last runs did, what was not stored, what is left of the
// budget. Reads only the mirror's own tables; sends no request.

import { z } from 'zod';
import { onlyRow } from '../db/only-row.ts';
import { LOAD_ORDER } from '../records/mirrored-tables.ts';
import { count, text } from './fields.ts';
import { figureOf, type Reader } from './figure.ts';
import { batch, readLastBatches } from './read-batches.ts';
import { drift, readDrift } from './read-drift.ts';
import { mirrorHealth, readHealth } from './read-health.ts';
import { payments } from './read-payments.ts';
import { readLastRuns, run } from './read-runs.ts';
import { readTracked, tracked } from './read-tracked.ts';

const tableRows = z.object({
  table_name: text('a mirrored table'),
  rows: count('rows that are not marked deleted'),
  deleted: count('rows that are'),
});

/** Its names are those of the columns, so that SQL and this agree. */
export const mirrorStatus = mirrorHealth.extend({
  payments: payments.extend({ last_batches: z.array(batch).readonly().describe('newest first') }),
  tables: z.array(tableRows).readonly(),
  tracked_commissions: tracked.describe('commissions that are asked for one by one'),
  last_runs: z.array(run).readonly().describe('newest first'),
  schema_drift: z.array(drift).readonly().describe('where records differ from the contract'),
});

export type MirrorStatus = z.infer<typeof mirrorStatus>;
export type TableStatus = z.infer<typeof tableRows>;

const LAST_RUNS = 10;
const LAST_BATCHES = 5;

/** Returns the status at this moment. */
export async function readStatus(reader: Reader): Promise<MirrorStatus> {
  const { health } = await readHealth(reader);
  return {
    ...health,
    payments: { ...health.payments, last_batches: await readLastBatches(reader, LAST_BATCHES) },
    tables: (await readTableRows(reader)).rows,
    tracked_commissions: onlyRow(await readTracked(reader), 'commission_coverage'),
    last_runs: (await readLastRuns(reader, LAST_RUNS)).rows,
    schema_drift: (await readDrift(reader)).rows,
  };
}

const readTableRows = figureOf(
  'table_rows',
  tableRows,
  `order by array_position(array['${LOAD_ORDER.join("', '")}'], table_name)`,
);
