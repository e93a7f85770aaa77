// The statement whose rows are exported: the rows, their order, and each column as the format needs it.

import { escapeIdentifier, escapeLiteral, type PoolClient } from 'pg';
import { ConfigError } from '../base/errors.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { CHANGED_AT, type Column, hasColumn, type Relation, spellRelation } from './relation.ts';

export interface Selection {
  /** The user's SQL. */
  readonly where: string | null;
  /** Only rows that changed after that. */
  readonly since: Timestamp | null;
  /** The column by whose days the files are split; null for one file. */
  readonly dayOf: string | null;
}

/** The partition of rows without a time. Source: Hive, whose names every reader of partitions knows. */
const NO_DAY = '__HIVE_DEFAULT_PARTITION__';

/**
 * Returns the query. With `dayOf`, each row ends in one more value: its day in UTC, by which the rows are ordered
 * first.
 *
 * Always ordered, by the key or else by every column, so that the same rows make the same file.
 */
export function writeStatement(
  relation: Relation,
  { where, since, dayOf }: Selection,
  express: (column: Column) => string,
): string {
  const { columns } = relation;
  const day =
    dayOf === null
      ? []
      : [`coalesce((${escapeIdentifier(dayOf)} at time zone 'UTC')::date::text, '${NO_DAY}')`];
  const values = [...columns.map(express), ...day];
  const conditions = [
    ...(since === null ? [] : [`${escapeIdentifier(CHANGED_AT)} > ${escapeLiteral(since)}::timestamptz`]),
    // On a separate line, because it may end in a comment.
    ...(where === null ? [] : [`(\n${where}\n)`]),
  ];
  const order = [...day, ...orderOf(relation)];
  return [
    `select ${values.join(', ')}`,
    `from ${spellRelation(relation)}`,
    ...(conditions.length === 0 ? [] : [`where ${conditions.join(' and ')}`]),
    `order by ${order.join(', ')}`,
  ].join('\n');
}

function orderOf({ key, columns }: Relation): string[] {
  if (key.length > 0) return key.map((name) => escapeIdentifier(name));
  // The first columns of a view identify a row, so the others are hardly ever compared. json itself has no order.
  return columns.map(({ name, type }) => `${escapeIdentifier(name)}${type === 'json' ? '::text' : ''}`);
}

/**
 * Returns the column by whose days the files are split: the creation of the record, or for changes the change.
 *
 * Throws: ConfigError if there is none.
 */
export function chooseDayColumn(relation: Relation, isOfChanges: boolean): string {
  const candidates = isOfChanges ? [CHANGED_AT] : ['day', 'created_at', CHANGED_AT];
  const found = candidates.find((name) => hasColumn(relation, name));
  if (found !== undefined) return found;
  throw new ConfigError([
    `${relation.name} has no column ${candidates.join(' or ')}: it cannot be exported by day`,
  ]);
}

/** Returns the highest watermark of the relation; null if it has no such column, or no row. */
export async function readWatermark(client: PoolClient, relation: Relation): Promise<Timestamp | null> {
  if (!hasColumn(relation, CHANGED_AT)) return null;
  const { rows } = await client.query<{ watermark: Timestamp | null }>(
    `select max(${escapeIdentifier(CHANGED_AT)}) as watermark from ${spellRelation(relation)}`,
  );
  return rows[0]?.watermark ?? null;
}
