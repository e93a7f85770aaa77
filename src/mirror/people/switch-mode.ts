// Changes the mode in which the mirror keeps personal data. The stored values are emptied, and the next full sync fills
// in what the API still has. A mirror without records takes over the mode of the settings without a command.
//
// One transaction, under the lock of loads: a reader sees all of it or nothing. A process with other settings is
// refused from then on, because every load compares its mode (lock_for_loading).

import { type RawBuilder, sql } from 'kysely';
import type { PersonalDataMode, PersonalDataSettings } from '../../config/program/personal-data.ts';
import type { Database, DatabaseTransaction } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { transact } from '../../db/transact.ts';
import { LOAD_ORDER, type MirroredTable } from '../../decode/mirrored-tables.ts';
import { lockForLoading } from '../load-lock.ts';
import { PERSONAL_COLUMNS } from './personal-columns.ts';
import { count, keepNoHistory, RECORD_TABLES, type RowCounts } from './rewriting.ts';
import { readState, saveMode, storedAs } from './stored-state.ts';

/** Sets the mode if the mirror has never stored a record; else changes nothing. Idempotent: yes. */
export async function adoptMode(db: Database, settings: PersonalDataSettings): Promise<void> {
  if (storedAs(settings) === (await readState(db)).storedAs) return;
  await transact(db, async (trx) => {
    await lockForLoading(trx, { runId: null });
    const filled = RECORD_TABLES.map((table) => sql`exists (select from ${sql.table(table)})`);
    const answer = await sql<{
      is_filled: boolean;
    }>`select ${sql.join(filled, sql` or `)} as is_filled`.execute(trx);
    if (!onlyRow(answer, 'the filled tables').is_filled) await saveMode(trx, settings);
  });
}

export interface Switched {
  readonly from: PersonalDataMode;
  readonly to: PersonalDataMode;
  /** Whether the mode or the key changed. */
  readonly isChanged: boolean;
  /** Whether forgotten people were known by addresses that this mode stores in another form. */
  readonly losesAddresses: boolean;
  readonly counts: RowCounts;
}

/**
 * Empties the personal columns, their copies in the history, and the rejected records. Idempotent: yes.
 *
 * Throws: the database's errors, such as the one for a role without the right.
 */
export async function switchMode(db: Database, settings: PersonalDataSettings): Promise<Switched> {
  return transact(db, async (trx) => {
    await lockForLoading(trx, { runId: null });
    const state = await readState(trx);
    const counts: RowCounts = new Map();
    const { mode } = settings;
    const isChanged = storedAs(settings) !== state.storedAs;
    if (isChanged) {
      await keepNoHistory(trx);
      for (const table of LOAD_ORDER) await emptyTable(trx, table, counts);
      await emptyRejected(trx, counts);
      await saveMode(trx, settings);
    }
    const isHashed = mode === 'hash' || state.mode === 'hash';
    const losesAddresses = isChanged && isHashed && (await knowsForgottenAddress(trx));
    return { from: state.mode, to: mode, isChanged, losesAddresses, counts };
  });
}

/** Returns the columns that are emptied: an identifier at the payment processor stays in each mode. */
function emptiedColumns(table: MirroredTable): readonly string[] {
  const columns = Object.entries(PERSONAL_COLUMNS[table]).filter(([, kind]) => kind !== 'pseudonym');
  return [...columns.map(([column]) => column), '_extra'];
}

async function emptyTable(trx: DatabaseTransaction, table: MirroredTable, counts: RowCounts): Promise<void> {
  const columns = emptiedColumns(table);
  const emptied = columns.map((column) => emptiedValue(table, column));
  const refs = columns.map((column) => sql.ref(column));
  const rows = await sql`
    update ${sql.table(table)}
    set (${sql.join(refs)}, _changed_at) = row(${sql.join(emptied)}, (select stamp_changes()))
    where (${sql.join(refs)}, true) is distinct from (${sql.join(emptied)}, true)
  `.execute(trx);
  count(counts, table, rows);
  const before = sql`without_person(before, ${columns}::text[])`;
  const after = sql`without_person(after, ${columns}::text[])`;
  const lines = await sql`
    update record_history set before = ${before}, after = ${after}
    where table_name = ${table} and before ?| ${columns}::text[] and (before, after) is distinct from (${before}, ${after})
  `.execute(trx);
  count(counts, 'record_history', lines);
}

function emptiedValue(table: MirroredTable, column: string): RawBuilder<unknown> {
  const kind = PERSONAL_COLUMNS[table][column];
  if (kind === 'coupon') return sql`without_names(${sql.ref(column)})`;
  if (kind === 'figures') return sql`only_figures(${sql.ref(column)})`;
  return kind === undefined ? sql`null::jsonb` : sql`null::text`;
}

async function emptyRejected(trx: DatabaseTransaction, counts: RowCounts): Promise<void> {
  // The number distinguishes those without an identifier.
  const rows = await sql`
    update rejected_records
    set payload = json_build_object('id', record_id, 'left_out', 'rejection ' || id)
  `.execute(trx);
  count(counts, 'rejected_records', rows);
}

async function knowsForgottenAddress(trx: DatabaseTransaction): Promise<boolean> {
  const { rows } = await sql`select from forgotten_addresses limit 1`.execute(trx);
  return rows.length > 0;
}
