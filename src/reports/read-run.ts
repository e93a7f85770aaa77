// One run, its differences from the contract, and its rejected records.

import { sql } from 'kysely';
import type { z } from 'zod';
import type { Timestamp } from '../contract/timestamp.ts';
import { count, timestamp, yesNo } from './fields.ts';
import {
  columnsOf,
  type FigurePage,
  figure,
  mirrorTable,
  type Reader,
  readPage,
  reportView,
} from './figure.ts';
import { type RunStatus, run } from './read-runs.ts';
import type { Drift } from './read-status.ts';

/** The fields of a run in `status`, and more; its error is read separately. */
const details = run.omit({ records: true, error: true }).extend({
  reads_everything: yesNo('it set out to read all of its resource'),
  last_saved_at: timestamp('when it last saved its progress'),
  attempt: count('more than 1 if it was stopped and resumed'),
  pages: count('pages loaded'),
  total_upstream: count('records at the API, by its own total').nullable(),
  distinct_seen: count('different records that it saw'),
});

export interface RunDetails extends z.infer<typeof details>, Pick<RunStatus, 'error'> {
  /** The sum of its five kinds of rows, which must equal rows_seen. */
  readonly rows_sum: number;
}

export type RunDrift = Omit<Drift, 'resource' | 'run_id'>;

export interface RejectedRecord {
  readonly id: number;
  readonly record_id: string | null;
  /** The first wrong field, or the constraint of the database that refused it; null if the reason names neither. */
  readonly cause: string | null;
  readonly observed_at: Timestamp;
  /** Like the payload, only with the right to personal data. */
  readonly reason?: string;
  readonly payload?: string;
}

const PAGE_OF_RECORDS = 50;

/**
 * Returns the run, in at most one row. Without the right to personal data, the error of a failed run is not read,
 * because it may quote the API.
 */
export const readRun = figure(
  (reader: Reader, id: number, { mayReadPeople }: { readonly mayReadPeople: boolean }) => sql<RunDetails>`
      select ${columnsOf(details)},
             rows_inserted + rows_updated + rows_unchanged + rows_rejected + rows_repeated as rows_sum,
             ${mayReadPeople ? sql`error` : sql`case when state <> 'failed' then error end as error`}
      from ${reportView(reader, 'run_log')}
      where id = ${id}`,
);

/** Returns the differences between the answers in the run and the contract. */
export const readRunDrift = figure(
  (reader: Reader, id: number) => sql<RunDrift>`
      select field, kind, found, occurrences
      from ${mirrorTable(reader, 'schema_drift')}
      where run_id = ${id}
      order by field, kind`,
);

/**
 * Returns a page of the records that the run rejected; `isFull`: with their contents, and the reasons that quote these.
 */
export function readRejected(
  reader: Reader,
  run: RunDetails,
  { after, isFull }: { readonly after: number | null; readonly isFull: boolean },
): Promise<FigurePage<RejectedRecord>> {
  // Spelled as the index has it.
  return readPage<RejectedRecord, number>(
    reader,
    { beyond: after, most: PAGE_OF_RECORDS, keyOf: (rejected) => rejected.id },
    (beyond, most) => sql<RejectedRecord>`
      select id, record_id, observed_at,
             coalesce(substring(reason from '^([a-z_.]+): expected '),
                      substring(reason from '^the database refused it [(][^)]*[)]$')) as cause
             ${isFull ? sql`, reason, payload::text as payload` : sql``}
      from ${mirrorTable(reader, 'rejected_records')}
      where coalesce(run_id, 0) = ${run.id} and resource = ${run.resource} and id > ${beyond ?? 0}
      order by id limit ${most}`,
  );
}
