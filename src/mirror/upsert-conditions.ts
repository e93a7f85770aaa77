// What every statement of a load says of an incoming row beside the one that is kept: does its content differ, is it to
// be written, and which values it gets. The table is `kept`; `row` is the name of the incoming row.

import { columnsOf, type RowShape, STAMP } from './load-statement.ts';

export interface UpsertShape extends RowShape {
  /**
   * `beside`: others may load meanwhile. `alone`: no other load does. `numbered`: the same, and the numbers of the
   * rows are returned; for tables that have such numbers.
   */
  readonly how: 'beside' | 'alone' | 'numbered';
  /** Whether an unchanged row takes the time of the observation, too. */
  readonly touch: boolean;
  /**
   * Whether rows that are marked deleted are there again. A record that merely names another one does not show that.
   */
  readonly revives: boolean;
  /** Whether rows that have an affiliate keep it, and are not revived: only that affiliate's own record may say so. */
  readonly keepsOwner: boolean;
}

export interface UpsertConditions {
  readonly differs: (row: string) => string;
  /** Whether it is to be written: it is not older than what is kept, and differs, or is touched. */
  readonly isDue: (row: string) => string;
  readonly assignments: (row: string) => string;
}

/** Returns the conditions, each as the text of an SQL expression. */
export function upsertConditions(shape: UpsertShape): UpsertConditions {
  const { hasExtra, touch, revives, keepsOwner } = shape;
  const content = columnsOf(shape).filter((column) => column !== 'id');
  const mayRevive = keepsOwner ? 'kept.affiliate_id is null' : 'true';
  const loadedValue = (column: string, row: string) =>
    keepsOwner && column === 'affiliate_id'
      ? `coalesce(kept.affiliate_id, ${row}.affiliate_id)`
      : `${row}.${column}`;

  function differs(row: string): string {
    const tests = content.map((column) => `kept.${column} is distinct from ${loadedValue(column, row)}`);
    if (hasExtra) tests.push(`${mergedExtra(row)} is distinct from kept._extra`);
    if (revives) tests.unshift(`(kept._deleted_at is not null and ${mayRevive})`);
    return `(${tests.join(' or ')})`;
  }

  function isDue(row: string): string {
    const isNotOlder = `kept._observed_at <= ${row}._observed_at`;
    const isOther = touch ? `(kept._observed_at < ${row}._observed_at or ${differs(row)})` : differs(row);
    return `${isNotOlder} and ${isOther}`;
  }

  function assignments(row: string): string {
    return [
      ...content.map((column) => `${column} = ${loadedValue(column, row)}`),
      ...(hasExtra ? [`_extra = ${mergedExtra(row)}`] : []),
      touch
        ? `_changed_at = case when ${differs(row)} then ${STAMP} else kept._changed_at end`
        : `_changed_at = ${STAMP}`,
      `_observed_at = ${row}._observed_at`,
      ...(revives ? [`_deleted_at = case when ${mayRevive} then null else kept._deleted_at end`] : []),
    ].join(', ');
  }

  return { differs, isDue, assignments };
}

// Unknown fields add to those that are there: a partial view must not blank what it does not have.
function mergedExtra(row: string): string {
  return `case when ${row}._extra is null then kept._extra else coalesce(kept._extra, '{}') || ${row}._extra end`;
}
