// The run log: page by page, newest first; the latest run of each resource; the ended runs of a day by state.

import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import { count, mode, resource, runState, seconds, text, timestamp, yesNo } from './fields.ts';
import {
  columnsOf,
  type Figure,
  type FigurePage,
  figure,
  type Reader,
  readFigure,
  readPage,
  reportView,
  whereAll,
} from './figure.ts';

/** A row of the report run_log in the status. */
export const run = z.object({
  id: count('number of the run in sync_runs'),
  resource,
  mode,
  state: runState,
  started_at: timestamp('when it began'),
  finished_at: timestamp('when it ended; null while it runs').nullable(),
  duration_seconds: seconds('its duration from its first start, until now if it runs'),
  requests: count('requests sent'),
  records: count('records read, each once'),
  rows_seen: count('records read, with repeated ones'),
  rows_inserted: count('records that were new'),
  rows_updated: count('records that had changed'),
  rows_unchanged: count('records that were here already'),
  rows_rejected: count('records that could not be stored'),
  rows_repeated: count('records read again within the run'),
  rows_deleted: count('rows that it marked deleted'),
  deletes_held_back: count('rows that look deleted and were not marked'),
  verified: yesNo('the run certainly missed nothing'),
  plan: z.looseObject({}).nullable().describe('the plan of a delta; see sync.json'),
  error_code: text('stable code of the error that it failed with').nullable(),
  error: text('why it did not succeed').nullable(),
});

/** For the status page: without texts that may quote the API. */
const line = run.omit({
  finished_at: true,
  rows_seen: true,
  rows_unchanged: true,
  rows_repeated: true,
  verified: true,
  plan: true,
  error: true,
});

const point = line.pick({
  id: true,
  resource: true,
  state: true,
  started_at: true,
  duration_seconds: true,
  requests: true,
  records: true,
});

export type RunStatus = z.infer<typeof run>;
export type RunLine = z.infer<typeof line>;
export type RunPoint = z.infer<typeof point>;

/** Null: any. */
export interface RunFilter {
  readonly resource: string | null;
  readonly state: RunLine['state'] | null;
}

const PAGE_OF_RUNS = 50;
const RUNS_OF_SERIES = 60;

/** Returns a page of the runs, newest first: those before the run `before`, or the newest. */
export function readRunLog(
  reader: Reader,
  { before, ...filter }: RunFilter & { readonly before: number | null },
): Promise<FigurePage<RunLine>> {
  return readPage<RunLine, number>(
    reader,
    { beyond: before, most: PAGE_OF_RUNS, keyOf: ({ id }) => id },
    (beyond, most) =>
      lastRuns(reader, line, [...fits(filter), ...(beyond === null ? [] : [sql`id < ${beyond}`])], most),
  );
}

/** Returns the last runs that were not skipped, oldest first. */
export function readRunSeries(reader: Reader, filter: RunFilter): Promise<Figure<RunPoint>> {
  const conditions = [sql`state <> 'skipped'`, ...fits(filter)];
  return readFigure(
    reader,
    sql<RunPoint>`
      select * from (${lastRuns(reader, point, conditions, RUNS_OF_SERIES)}
      ) as last_runs
      order by id`,
  );
}

/** Returns the last runs, newest first, with their plans and errors. */
export function readLastRuns(reader: Reader, most: number): Promise<Figure<RunStatus>> {
  return readFigure(reader, lastRuns<RunStatus>(reader, run, [], most));
}

/** Returns the latest run of each resource that was not skipped. */
export const readLatestRuns = figure(
  (reader) => sql<RunStatus>`
      select latest.*
      from unnest(${[...LISTED_RESOURCES]}::text[]) as listed (name)
      cross join lateral (${lastRuns(reader, run, [sql`resource = name`, sql`state <> 'skipped'`], 1)}
      ) latest`,
);

function lastRuns<Row>(
  reader: Reader,
  row: z.ZodObject,
  conditions: readonly RawBuilder<unknown>[],
  most: number,
): RawBuilder<Row> {
  return sql<Row>`
      select ${columnsOf(row)}
      from ${reportView(reader, 'run_log')}
      ${whereAll(conditions)}
      order by id desc limit ${most}`;
}

function fits({ resource, state }: RunFilter): RawBuilder<unknown>[] {
  return [
    ...(resource === null ? [] : [sql`resource = ${resource}`]),
    ...(state === null ? [] : [sql`state = ${state}`]),
  ];
}

export interface EndedRuns {
  readonly resource: string;
  readonly state: RunLine['state'];
  readonly runs: number;
}

/** Returns the number of runs that ended within 24 hours, by resource and state, without zeros. */
export const readRunsOfLastDay = figure(
  (reader) => sql<EndedRuns>`
      select resource, state, count(*) as runs
      from ${reportView(reader, 'run_log')}
      where finished_at > clock_timestamp() - interval '24 hours'
      group by resource, state
      order by resource, state`,
);
