// The run log for people who look through it: page by page, newest first, and the last runs as a series over time.

import { type RawBuilder, sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import type { RunMode, RunState } from '../db/tables.ts';
import {
  type Reader,
  reportView,
  runShown,
  runShownPage,
  type Shown,
  type ShownPage,
  whereAll,
} from './shown-query.ts';

/** Null: any. */
export interface RunFilter {
  readonly resource: string | null;
  readonly state: RunState | null;
}

export interface RunLine {
  readonly id: number;
  readonly resource: string;
  readonly mode: RunMode;
  readonly state: RunState;
  readonly verified: boolean;
  readonly started_at: Timestamp;
  readonly duration_seconds: number;
  readonly requests: number;
  /** Each record once: what was read again is not in it. */
  readonly records: number;
  readonly rows_inserted: number;
  readonly rows_updated: number;
  readonly rows_deleted: number;
  readonly rows_rejected: number;
  readonly deletes_held_back: number;
  readonly error_code: string | null;
}

/** One run of the series. */
export type RunPoint = Pick<
  RunLine,
  'id' | 'resource' | 'state' | 'started_at' | 'duration_seconds' | 'requests' | 'records'
>;

const PAGE_OF_RUNS = 50;
const RUNS_OF_SERIES = 60;

/** Returns a page of the runs, newest first: those before the run `before`, or the newest. */
export async function readRunLog(
  reader: Reader,
  { before, ...filter }: RunFilter & { readonly before: number | null },
): Promise<ShownPage<RunLine>> {
  return await runShownPage<RunLine, number>(
    reader,
    { beyond: before, most: PAGE_OF_RUNS, keyOf: ({ id }) => id },
    (beyond, most) => sql<RunLine>`
      select id, resource, mode, state, verified, started_at, duration_seconds, requests,
             rows_seen - rows_repeated as records, rows_inserted, rows_updated, rows_deleted, rows_rejected,
             deletes_held_back, error_code
      from ${reportView(reader, 'run_log')}
      ${whereAll([...conditions(filter), ...(beyond === null ? [] : [sql`id < ${beyond}`])])}
      order by id desc limit ${most}`,
  );
}

/** Returns the last runs that sent anything or tried to, oldest first. */
export async function readRunSeries(reader: Reader, filter: RunFilter): Promise<Shown<RunPoint>> {
  return await runShown(
    reader,
    sql<RunPoint>`
      select * from (
        select id, resource, state, started_at, duration_seconds, requests, rows_seen - rows_repeated as records
        from ${reportView(reader, 'run_log')}
        ${whereAll([sql`state <> 'skipped'`, ...conditions(filter)])}
        order by id desc limit ${RUNS_OF_SERIES}
      ) as last_runs
      order by id`,
  );
}

function conditions({ resource, state }: RunFilter): RawBuilder<unknown>[] {
  return [
    ...(resource === null ? [] : [sql`resource = ${resource}`]),
    ...(state === null ? [] : [sql`state = ${state}`]),
  ];
}
