// The mirror's status: the freshness of each resource, the last runs, rejected records, the budget. Sends no request.

import { sql } from 'kysely';
import { z } from 'zod';
import { onlyRow } from '../db/only-row.ts';
import { LOAD_ORDER } from '../decode/mirrored-tables.ts';
import { count, driftKind, resource, text, timestamp } from './fields.ts';
import { figure, figureOf, type Reader, reportView } from './figure.ts';
import { batch, readLastBatches } from './read-batches.ts';
import { mirrorHealth, readHealth } from './read-health.ts';
import { payments } from './read-payments.ts';
import { readLastRuns, run } from './read-runs.ts';

const tableRows = z.object({
  table_name: text('a mirrored table'),
  rows: count('rows that are not marked deleted'),
  deleted: count('rows that are'),
});

export const tracked = z.object({
  tracked: count('known commissions that are polled'),
  due: count('those that are due; none if the API lists its commissions'),
  unanswered: count('those whose last poll was not answered'),
  gone: count('those that the API no longer has'),
  next_poll_at: timestamp('when the next poll is due').nullable(),
});

export type TrackedStatus = z.infer<typeof tracked>;

/** Returns one row. */
export const readTracked = figure(
  (reader) => sql<TrackedStatus>`
      select tracked, due_polls as due, unanswered, gone, next_poll_at
      from ${reportView(reader, 'commission_coverage')}`,
);

export const drift = z.object({
  run_id: count('the last run that noticed it'),
  resource,
  field: text('the field, with the names of the objects around it'),
  kind: driftKind,
  found: text('an example of the type that was found').nullable(),
  occurrences: count(
    'how often it was noticed: once for each record, and again if the run read the record again',
  ),
});

export type Drift = z.infer<typeof drift>;

/** Returns a row for each resource, field and kind of difference, of the runs since all was last read. */
export const readDrift = figureOf('contract_drift', drift, 'order by resource, field, kind');

/** With the names of the columns in SQL. */
export const mirrorStatus = mirrorHealth.extend({
  payments: payments.extend({ last_batches: z.array(batch).readonly().describe('newest first') }),
  tables: z.array(tableRows).readonly(),
  tracked_commissions: tracked.describe('commissions that are polled one by one'),
  last_runs: z.array(run).readonly().describe('newest first'),
  schema_drift: z.array(drift).readonly().describe('differences between records and the contract'),
});

export type MirrorStatus = z.infer<typeof mirrorStatus>;

const LAST_RUNS = 10;
const LAST_BATCHES = 5;

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
