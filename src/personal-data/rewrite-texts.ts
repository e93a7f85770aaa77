// Rewrites the texts that may quote what the program answered: errors, and what the payment ledger says about them.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseTransaction } from '../db/database.ts';
import { onlyRow } from '../db/only-row.ts';
import { ANSWERED_OTHERWISE, NOT_TAKEN_OVER, VOIDED } from './own-words.ts';
import { count, type RowCounts } from './rewrite-rows.ts';
import type { Pattern } from './text-pattern.ts';

interface Text {
  readonly table: string;
  readonly column: string;
  /** Those that are ours from end to end, and stay. */
  readonly except: RawBuilder<unknown>;
}

const NONE = sql`false`;

/** Errors may quote the beginning of an answer, and a refusal its details. */
const QUOTING: readonly Text[] = [
  { table: 'sync_runs', column: 'error', except: NONE },
  { table: 'optional_lists', column: 'problem', except: NONE },
  { table: 'tracked_commissions', column: 'last_error', except: NONE },
  { table: 'commission_update_attempts', column: 'error', except: NONE },
  { table: 'commission_updates', column: 'last_error', except: NONE },
  {
    table: 'commission_updates',
    column: 'note',
    except: sql`note not like ${`%${NOT_TAKEN_OVER}%`}`,
  },
  {
    table: 'commission_updates',
    column: 'outcome',
    except: sql`state not in ('rejected', 'failed') or outcome like ${`${VOIDED}%`}
      or outcome like ${`${ANSWERED_OTHERWISE}%`}`,
  },
];

/** What people write themselves when they ask for a payment. */
const REASON: Text = { table: 'commission_updates', column: 'reason', except: NONE };

/** Of the payment ledger, what keeps a payment from being made twice: it is never rewritten. */
const UNTOUCHED = ['batch_id', 'idempotency_key', 'requested_by'] as const;

/** Puts the marker in place of every text that may quote the program. */
export async function leaveOutTexts(
  trx: DatabaseTransaction,
  marker: string,
  counts: RowCounts,
): Promise<void> {
  for (const { table, column, except } of QUOTING) {
    const text = sql.ref(column);
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${text} = ${marker}
      where ${text} is not null and ${text} <> ${marker} and not (${except})
    `.execute(trx);
    count(counts, table, Number(numAffectedRows));
  }
}

function isFoundIn(text: RawBuilder<unknown>, { regex, words }: Pattern): RawBuilder<boolean> {
  // A case, since Postgres takes the regex for the cheaper of the two.
  return sql<boolean>`case when exists (
      select from unnest(${words}::text[]) as word where strpos(lower(${text} collate "C"), word) > 0
    ) then ${text} ~* ${regex} else false end`;
}

/** Puts `[forgotten]` in place of whatever the pattern finds, whatever its case. */
export async function forgetInTexts(
  trx: DatabaseTransaction,
  pattern: Pattern,
  counts: RowCounts,
): Promise<void> {
  await sql`alter table commission_updates disable trigger user`.execute(trx);
  for (const { table, column } of [...QUOTING, REASON]) {
    const text = sql.ref(column);
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${text} = regexp_replace(${text}, ${pattern.regex}, '[forgotten]', 'gi')
      where ${isFoundIn(text, pattern)}
    `.execute(trx);
    count(counts, table, Number(numAffectedRows));
  }
  await sql`alter table commission_updates enable trigger user`.execute(trx);
}

export interface Kept {
  readonly table: string;
  readonly column: string;
  readonly rows: number;
}

/** Returns where the pattern is found in what is never rewritten. */
export async function findKept(trx: DatabaseTransaction, pattern: Pattern): Promise<readonly Kept[]> {
  const kept: Kept[] = [];
  for (const column of UNTOUCHED) {
    const answer = await sql<{ rows: number }>`
      select count(*) as rows from commission_updates where ${isFoundIn(sql.ref(column), pattern)}
    `.execute(trx);
    const found = onlyRow(answer, 'the count of mentions').rows;
    if (found > 0) kept.push({ table: 'commission_updates', column, rows: found });
  }
  return kept;
}
