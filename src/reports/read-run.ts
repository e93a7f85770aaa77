// One run, with what was noticed in it: differences from the contract, and rejected records.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import {
  type Figure,
  type FigurePage,
  figure,
  mirrorTable,
  type Reader,
  readFigure,
  readPage,
  reportView,
} from './figure.ts';
import type { Drift } from './read-drift.ts';
import type { RunStatus } from './read-runs.ts';

/** What `status` says of a run, and more. */
export interface RunDetails extends RunStatus {
  readonly reads_everything: boolean;
  readonly last_saved_at: Timestamp;
  /** More than 1 where it was stopped and taken up again. */
  readonly attempt: number;
  readonly pages: number;
  /** What its five kinds of rows come to: rows_seen, or something is wrong. */
  readonly rows_sum: number;
  readonly total_upstream: number | null;
  readonly distinct_seen: number;
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
export function readRun(
  reader: Reader,
  id: number,
  { mayReadPeople }: { mayReadPeople: boolean },
): Promise<Figure<RunDetails>> {
  const error = mayReadPeople ? sql`log.error` : sql`case when log.state <> 'failed' then log.error end`;
  return readFigure(
    reader,
    sql<RunDetails>`
      select log.id, log.resource, log.mode, log.state, log.verified, log.started_at, log.finished_at,
             run.heartbeat_at as last_saved_at, log.duration_seconds, log.attempt, log.requests, log.pages,
             log.rows_seen, log.rows_inserted, log.rows_updated, log.rows_unchanged, log.rows_rejected,
             log.rows_repeated,
             log.rows_inserted + log.rows_updated + log.rows_unchanged + log.rows_rejected + log.rows_repeated
               as rows_sum,
             log.rows_deleted, log.deletes_held_back, log.total_upstream, log.distinct_seen, run.plan,
             run.reads_everything, log.error_code, ${error} as error
      from ${reportView(reader, 'run_log')} log
      join ${mirrorTable(reader, 'sync_runs')} run on run.id = log.id
      where log.id = ${id}`,
  );
}

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
