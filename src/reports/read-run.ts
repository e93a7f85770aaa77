// One run, with what was noticed in it: differences from the contract, and rejected records.

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
import type { Drift } from './read-drift.ts';
import { type RunStatus, run } from './read-runs.ts';

/** What `status` says of a run, and more; its error is read apart. */
const details = run.omit({ records: true, error: true }).extend({
  reads_everything: yesNo('it set out to read all of its resource'),
  last_saved_at: timestamp('when it last saved its progress'),
  attempt: count('more than 1 where it was stopped and taken up again'),
  pages: count('pages loaded'),
  total_upstream: count('records that the program says it has').nullable(),
  distinct_seen: count('different records that it saw'),
});

export interface RunDetails extends z.infer<typeof details>, Pick<RunStatus, 'error'> {
  /** What its five kinds of rows come to: rows_seen, or something is wrong. */
  readonly rows_sum: number;
}

export type RunDrift = Omit<Drift, 'resource' | 'run_id'>;

export interface RejectedRecord {
  readonly id: number;
  readonly record_id: string | null;
  /** The first field that is wrong, where the reason names one. */
  readonly field: string | null;
  readonly observed_at: Timestamp;
  /** With personal data alone, as payload. */
  readonly reason?: string;
  readonly payload?: string;
}

const PAGE_OF_RECORDS = 50;

/**
 * Returns the run, in one row; no row where there is no such run. Without the right to personal data, the error of a
 * failed one is not read: it may quote the program.
 */
export const readRun = figure(
  (reader: Reader, id: number, { mayReadPeople }: { readonly mayReadPeople: boolean }) => sql<RunDetails>`
      select ${columnsOf(details)},
             rows_inserted + rows_updated + rows_unchanged + rows_rejected + rows_repeated as rows_sum,
             ${mayReadPeople ? sql`error` : sql`case when state <> 'failed' then error end as error`}
      from ${reportView(reader, 'run_log')}
      where id = ${id}`,
);

/** Returns where the answers that the run read differ from the contract. */
export const readRunDrift = figure(
  (reader: Reader, id: number) => sql<RunDrift>`
      select field, kind, found, occurrences
      from ${mirrorTable(reader, 'schema_drift')}
      where run_id = ${id}
      order by field, kind`,
);

/**
 * Returns a page of the records that the run rejected; `isFull`: with what they hold, and the reasons that quote it.
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
      select id, record_id, substring(reason from '^([a-z_.]+): expected ') as field, observed_at
             ${isFull ? sql`, reason, payload::text as payload` : sql``}
      from ${mirrorTable(reader, 'rejected_records')}
      where coalesce(run_id, 0) = ${run.id} and resource = ${run.resource} and id > ${beyond ?? 0}
      order by id limit ${most}`,
  );
}
