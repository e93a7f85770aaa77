// The contents of the mirror: rows, size and last change of each table; rejected records; exports.

import { sql } from 'kysely';
import type { Timestamp } from '../contract/timestamp.ts';
import { LOAD_ORDER } from '../decode/mirrored-tables.ts';
import { type Figure, figure, mirrorTable, type Reader, readMemoized } from './figure.ts';

export interface TableLine {
  readonly table_name: string;
  readonly rows: number;
  /** Rows that are marked deleted. */
  readonly deleted: number;
  /** First seen within a day, and within seven. */
  readonly new_in_a_day: number;
  readonly new_in_a_week: number;
  readonly last_changed_at: Timestamp | null;
  /** With its indexes. */
  readonly bytes: number;
}

export interface RejectedLine {
  readonly resource: string;
  readonly rejections: number;
  readonly records: number;
  readonly last_run_id: number | null;
  readonly last_observed_at: Timestamp;
}

export interface ExportLine {
  readonly target: string;
  readonly object: string;
  readonly kind: 'whole' | 'changes';
  readonly rows: number;
  readonly watermark: Timestamp | null;
  readonly exported_at: Timestamp;
}

const MOST_EXPORTS = 100;

export async function readTables(reader: Reader): Promise<Figure<TableLine>> {
  const tables = LOAD_ORDER.map((name, place) => {
    const table = mirrorTable(reader, name);
    return sql`
      select ${sql.lit(place)} as place, ${sql.lit(name)} as table_name,
             count(*) filter (where _deleted_at is null) as rows,
             count(*) filter (where _deleted_at is not null) as deleted,
             count(*) filter (where _first_seen_at >= now() - interval '1 day') as new_in_a_day,
             count(*) filter (where _first_seen_at >= now() - interval '7 days') as new_in_a_week,
             max(_changed_at) as last_changed_at
      from ${table}`;
  });
  return await readMemoized(
    reader,
    sql<TableLine>`
      select table_name, rows, deleted, new_in_a_day, new_in_a_week, last_changed_at,
             pg_total_relation_size(format('%I.%I', ${reader.mirrorSchema}::text, table_name)::regclass) as bytes
      from (${sql.join(
        tables,
        sql`
      union all`,
      )}
      ) as counted
      order by place`,
  );
}

/** Returns the numbers of records that could not be stored. */
export const readRejections = figure(
  (reader) => sql<RejectedLine>`
      select resource, count(*) as rejections, count(distinct record_id) as records, max(run_id) as last_run_id,
             max(observed_at) as last_observed_at
      from ${mirrorTable(reader, 'rejected_records')}
      group by resource
      order by resource`,
  readMemoized,
);

/** Returns the last export of each table or view to each target, the newest first. */
export const readExports = figure(
  (reader) => sql<ExportLine>`
      select target, object, kind, rows, watermark, exported_at
      from ${mirrorTable(reader, 'exports')}
      order by exported_at desc, target, object, kind limit ${MOST_EXPORTS}`,
);
