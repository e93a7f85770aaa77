// One run, with all that was noticed in it: differences from the contract, rejected records, rows held back.

import { type RawBuilder, sql } from 'kysely';
import { LISTED_RESOURCES, type ListedResource } from '../contract/resources.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { SchemaDriftTable } from '../db/tables.ts';
import type { RunStatus } from './read-status.ts';
import {
  mirrorTable,
  type Reader,
  reportView,
  runShown,
  runShownPage,
  type Shown,
  type ShownPage,
} from './shown-query.ts';

/** What `status` says of a run, and more. */
export interface RunDetails extends RunStatus {
  readonly plan: Readonly<Record<string, unknown>> | null;
  readonly reads_everything: boolean;
  readonly last_saved_at: Timestamp;
  readonly duration_seconds: number;
  /** More than 1 where it was stopped and taken up again. */
  readonly attempt: number;
  readonly pages: number;
  /** What its five kinds of rows come to: rows_seen, or something is wrong. */
  readonly rows_sum: number;
  readonly total_upstream: number | null;
  readonly distinct_seen: number;
}

export interface RunDrift {
  readonly field: string;
  readonly kind: SchemaDriftTable['kind'];
  readonly found: string | null;
  readonly occurrences: number;
}

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

export interface HeldBackRow {
  readonly record_id: string;
  readonly held_back_at: Timestamp;
  readonly accepted_at: Timestamp | null;
  /** With personal data alone, as name. */
  readonly accepted_by?: string | null;
  readonly name?: string | null;
}

const PAGE_OF_RECORDS = 50;

/**
 * Returns the run, in one row; no row where there is no such run. Without the right to personal data, the error of a
 * failed one is not read: it may quote the program.
 */
export async function readRun(
  reader: Reader,
  id: number,
  { mayReadPeople }: { mayReadPeople: boolean },
): Promise<Shown<RunDetails>> {
  const error = mayReadPeople ? sql`log.error` : sql`case when log.state <> 'failed' then log.error end`;
  return await runShown(
    reader,
    sql<RunDetails>`
      select log.id, log.resource, log.mode, log.state, log.verified, log.started_at, log.finished_at,
             run.heartbeat_at as last_saved_at, log.duration_seconds, log.attempt, log.requests, log.pages,
             log.rows_seen, log.rows_inserted, log.rows_updated, log.rows_unchanged, log.rows_rejected,
             log.rows_repeated,
             log.rows_inserted + log.rows_updated + log.rows_unchanged + log.rows_rejected + log.rows_repeated
               as rows_sum,
             log.rows_deleted, log.deletes_held_back, log.total_upstream, log.distinct_seen, run.plan,
             run.reads_everything,
             log.error_code, ${error} as error
      from ${reportView(reader, 'run_log')} log
      join ${mirrorTable(reader, 'sync_runs')} run on run.id = log.id
      where log.id = ${id}`,
  );
}

/** Returns where the answers that the run read differ from the contract. */
export async function readRunDrift(reader: Reader, id: number): Promise<Shown<RunDrift>> {
  return await runShown(
    reader,
    sql<RunDrift>`
      select field, kind, found, occurrences
      from ${mirrorTable(reader, 'schema_drift')}
      where run_id = ${id}
      order by field, kind`,
  );
}

/**
 * Returns a page of the records that the run rejected; `isFull`: with what they hold, and the reasons that quote it.
 */
export async function readRejected(
  reader: Reader,
  run: RunDetails,
  { after, isFull }: { readonly after: number | null; readonly isFull: boolean },
): Promise<ShownPage<RejectedRecord>> {
  // Spelled as the index has it.
  return await runShownPage<RejectedRecord, number>(
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

/** Returns a page of the rows that the run held back and that are still so; `isFull`: with whom they are about. */
export async function readHeldBack(
  reader: Reader,
  run: RunDetails,
  { after, isFull }: { readonly after: string | null; readonly isFull: boolean },
): Promise<ShownPage<HeldBackRow, string>> {
  const resource = LISTED_RESOURCES.find((name) => name === run.resource);
  if (resource === undefined) throw new TypeError(`no resource is named ${run.resource}`);
  return await runShownPage<HeldBackRow, string>(
    reader,
    { beyond: after, most: PAGE_OF_RECORDS, keyOf: ({ record_id }) => record_id },
    (beyond, most) => sql<HeldBackRow>`
      select held.record_id, held.held_back_at, held.accepted_at
             ${isFull ? sql`, held.accepted_by, ${nameOf(resource)} as name` : sql``}
      from ${mirrorTable(reader, 'held_back_deletions')} held
      left join ${mirrorTable(reader, resource)} record on record.id = held.record_id
      where held.resource = ${resource} and held.run_id = ${run.id} and held.record_id > ${beyond ?? ''}
      order by held.record_id limit ${most}`,
  );
}

function nameOf(resource: ListedResource): RawBuilder<unknown> {
  switch (resource) {
    case 'affiliates':
      return sql`nullif(btrim(concat_ws(' ', record.first_name, record.last_name)), '')`;
    case 'referrals':
      return sql`record.customer_name`;
    case 'campaigns':
      return sql`record.name`;
    case 'commissions':
      return sql`null::text`;
  }
}
