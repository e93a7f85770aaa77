// What the commands that ask for updates hand on: the rows, how to answer, and what became of each row.

import { type Latest, readLatest } from '../../commissions/requests/read-latest.ts';
import type { Answer, AskedUpdate } from '../../commissions/requests/request-updates.ts';
import { isSelected } from '../../commissions/select-requests.ts';
import { UNMET_STATES } from '../../commissions/update-request.ts';
import { formatCount } from '../../contract/format.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { readPaymentLedger } from '../../reports/read-payment-ledger.ts';
import type { OutputFlags } from '../output/format.ts';
import { printError } from '../output/print.ts';

export interface QueueFlags extends OutputFlags {
  readonly dryRun?: true;
  readonly wait?: true;
  /** Stdout carries another document already: only stderr tells what became of the requests. */
  readonly isStdoutTaken?: boolean;
  /** Called with what became of every row, before anything of it is printed. */
  readonly onOutcomes?: (outcomes: readonly RowOutcome[]) => Promise<void>;
}

/** A request with the line of the file that it is on; null where it comes from no file. */
export interface AskedRow {
  readonly line: number | null;
  readonly request: AskedUpdate;
  /** Whether whoever asks chose the idempotency key: then --again changes nothing about it. */
  readonly hasOwnKey: boolean;
}

/** Returns what is asked for with the row: nothing where a request waits for it that no key would find. */
export function requestOf({ request }: AskedRow): AskedUpdate {
  return { ...request, unless_waiting: true };
}

/** What became of a row, for the file that finance gets to hand back. */
export interface RowOutcome {
  readonly line: number | null;
  readonly state: string;
  readonly outcome: string;
  /** What the program has now, as far as it was read; of what was asked for before, as far as the mirror knows. */
  readonly paid_at: string | null;
  /** As the program counts. */
  readonly amount: number | null;
  readonly currency: string | null;
}

/** Returns what became of the row, with its note. */
export function outcomeOf({ outcome, note }: { outcome: string; note: string | null }): string {
  return note === null ? outcome : `${outcome}; ${note}`;
}

/** The request that asked for the same as a row before it. */
export interface Earlier extends Pick<Answer, 'state' | 'outcome' | 'overtaken_by'> {
  readonly id: number;
  /** What the program has of its commission, as far as the mirror knows. */
  readonly now: Latest | undefined;
}

/**
 * Returns whether a row was asked for before, and the program does not have what it asks for; names those rows on
 * stderr. `earlier` has one for each of the rows: null where it was not asked for before.
 */
export function reportAskedBefore(rows: readonly AskedRow[], earlier: readonly (Earlier | null)[]): boolean {
  const before = earlier.filter((request) => request !== null).length;
  if (before === 0) return false;
  const was = before === 1 ? 'was' : 'were';
  printError(
    `${formatCount(before)} of ${formatCount(rows.length)} ${was} asked for before: not queued again`,
  );
  const worrying = rows.flatMap((row, index) => {
    const { says, isWorrying } = describeEarlier(row, earlier[index] ?? null);
    return isWorrying ? [`${row.line === null ? '' : `line ${row.line}: `}${says}`] : [];
  });
  for (const says of worrying) printError(says);
  return worrying.length > 0;
}

/** Returns what the earlier request says of the row, and whether the program does not have what the row asks for. */
export function describeEarlier(
  { hasOwnKey }: AskedRow,
  earlier: Earlier | null,
): { says: string; isWorrying: boolean } {
  if (earlier === null) return { says: '', isWorrying: false };
  const { id, state, outcome, overtaken_by, now } = earlier;
  const isOvertaken = overtaken_by !== null;
  const isUnmet = !isOvertaken && UNMET_STATES.includes(state);
  const since = now?.since ?? null;
  const says = [
    `request ${id} asked for this and ${state === 'pending' ? 'still waits' : `ended as ${state}`}`,
    isOvertaken ? `, but request ${overtaken_by} came later` : '',
    isUnmet ? ` (${outcome})` : '',
    since === null ? '' : `; ${since}`,
  ].join('');
  const isWorrying = isOvertaken || isUnmet || since !== null;
  if (state === 'pending' && !isWorrying) return { says, isWorrying };
  const anew = hasOwnKey ? 'another idempotency_key asks anew' : '--again asks anew';
  const wayOn = isUnmet && state === 'failed' ? `affiliate-mirror commissions retry ${id}` : anew;
  return { says: `${says}: ${wayOn}`, isWorrying };
}

/**
 * Names on stderr the rows that come after requests that wait for the same value of their commissions. Returns whether
 * there is one. `answers` has one for each of the rows.
 */
export function reportWaitingBefore(rows: readonly AskedRow[], answers: readonly Answer[]): boolean {
  const named = rows.flatMap((row, index) => {
    const { behind, behind_action, behind_at } = answers[index] ?? {};
    if (behind == null) return [];
    const when = behind_at == null ? '' : ` ${spellTimestamp(behind_at)}`;
    return [`${placeOf(row)} (request ${behind}: ${behind_action}${when})`];
  });
  if (named.length === 0) return false;
  printError(`another request waits for the same commission and is applied first: ${nameFirst(named)}`);
  return true;
}

/** Half a year: in January, whoever writes the year before is found too. */
const FAR_MS = 183 * 86_400_000;

/**
 * Returns a warning that names the first rows whose date is far from `nowMs` (milliseconds since 1970); null where none
 * is. The program takes any date, so that a year with a wrong digit would go through (contract, Update commission).
 */
export function describeFarDates(rows: readonly PlacedRow[], nowMs: number): string | null {
  const far = rows.flatMap((row) => {
    const at = row.request.paid_at ?? row.request.due_at;
    if (at === null || Math.abs(Date.parse(at) - nowMs) <= FAR_MS) return [];
    return [`${placeOf(row)} (${spellTimestamp(at)})`];
  });
  if (far.length === 0) return null;
  return `dated more than half a year from now, so make sure of the year: ${nameFirst(far)}`;
}

type PlacedRow = Pick<AskedRow, 'line' | 'request'>;

function placeOf({ line, request }: PlacedRow): string {
  return line === null ? request.commission_id : `line ${line}`;
}

const MOST_NAMED = 5;

/** Returns the first of what may be thousands, and how many more there are: `line 2, line 3 and 12 more`. */
function nameFirst(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${formatCount(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}

/** Returns what the mirror has by now of what each request asked for. */
export async function readLatestOf(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Latest>> {
  return ids.length === 0
    ? new Map()
    : readLatest(db, await readPaymentLedger(db, isSelected({ kind: 'requests', ids })));
}
