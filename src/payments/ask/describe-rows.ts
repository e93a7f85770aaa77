// The sentences about rows that ask for payments, before and after they were asked for. Pure.

import { formatCount } from '../../contract/format.ts';
import { spellTimestamp } from '../../contract/timestamp.ts';
import { describeProblems } from '../files/raw-table.ts';
import { UNMET_STATES } from '../update-request.ts';
import type { Answers, AskedRow } from './ask-rows.ts';
import { describeOvertaken, type Earlier, isOvertaken } from './earlier.ts';

/**
 * Describes rows that were asked for before, and rows that come after other requests for their commissions.
 * `isWorrying`: the API does not have the value that a row asked for before.
 */
export function describeAnswers(
  rows: readonly AskedRow[],
  { answers, earlier }: Answers,
): { readonly behind: string | null; readonly before: readonly string[]; readonly isWorrying: boolean } {
  const behind = describeWaitingBefore(rows, answers);
  const before = earlier.filter((request) => request !== null).length;
  if (before === 0) return { behind, before: [], isWorrying: false };
  const was = before === 1 ? 'was' : 'were';
  const counted = `${formatCount(before)} of ${formatCount(rows.length)} ${was} asked for before: not queued again`;
  const worrying = rows.flatMap((row, index) => {
    const { says, isWorrying } = describeEarlier(row, earlier[index] ?? null);
    return isWorrying ? [{ line: row.line, problem: says }] : [];
  });
  return { behind, before: [counted, ...describeProblems(worrying)], isWorrying: worrying.length > 0 };
}

/** Describes the earlier request; `isWorrying`: the API does not have the value that the row asks for. */
export function describeEarlier(
  row: AskedRow,
  earlier: Earlier | null,
): { says: string; isWorrying: boolean } {
  if (earlier === null) return { says: '', isWorrying: false };
  const { id, state, outcome, overtaken_by, now } = earlier;
  const hasLater = overtaken_by !== null;
  const isUnmet = !hasLater && UNMET_STATES.includes(state);
  const since = now?.since ?? null;
  const says = isOvertaken(earlier)
    ? describeOvertaken(earlier)
    : [
        `request ${id} asked for this and ${state === 'pending' ? 'still waits' : `ended as ${state}`}`,
        hasLater ? `, but request ${overtaken_by} came later` : '',
        isUnmet ? ` (${outcome})` : '',
        since === null ? '' : `; ${since}`,
      ].join('');
  const isWorrying = hasLater || isUnmet || since !== null;
  if (state === 'pending' && !isWorrying) return { says, isWorrying };
  const anew = row.hasOwnKey ? 'another idempotency_key asks anew' : '--again asks anew';
  const wayOn = isUnmet && state === 'failed' ? `affiliate-mirror ${groupOf([row])} retry ${id}` : anew;
  return { says: `${says}: ${wayOn}`, isWorrying };
}

/** Names the rows that come after requests that wait for the same value of their commissions; null if none does. */
function describeWaitingBefore(rows: readonly AskedRow[], answers: Answers['answers']): string | null {
  const named = rows.flatMap((row, index) => {
    const { behind, behind_action, behind_at } = answers[index] ?? {};
    if (behind == null) return [];
    const when = behind_at == null ? '' : ` ${spellTimestamp(behind_at)}`;
    return [`${placeOf(row)} (request ${behind}: ${behind_action}${when})`];
  });
  if (named.length === 0) return null;
  return `another request waits for the same ${groupOf(rows).slice(0, -1)} and is applied first: ${nameFirst(named)}`;
}

/** Half a year: a date in January with the year before is found too. */
const FAR_MS = 183 * 86_400_000;

/**
 * Returns a warning that names the first rows whose date is far from `nowMs` (milliseconds since 1970); null if none
 * is. The API takes any date, so a year with a wrong digit would go through (contract, Update commission).
 */
export function describeFarDates(rows: readonly PlacedRow[], nowMs: number): string | null {
  const far = rows.flatMap((row) => {
    const at = 'payout_id' in row.request ? null : (row.request.paid_at ?? row.request.due_at);
    if (at === null || Math.abs(Date.parse(at) - nowMs) <= FAR_MS) return [];
    return [`${placeOf(row)} (${spellTimestamp(at)})`];
  });
  if (far.length === 0) return null;
  return `dated more than half a year from now, so make sure of the year: ${nameFirst(far)}`;
}

type PlacedRow = Pick<AskedRow, 'line' | 'request'>;

/** Returns the group of the commands that are for these rows. */
export function groupOf(rows: readonly Pick<AskedRow, 'request'>[]): 'commissions' | 'payouts' {
  return rows.every(({ request }) => 'payout_id' in request) ? 'payouts' : 'commissions';
}

function placeOf({ line, request }: PlacedRow): string {
  if (line !== null) return `line ${line}`;
  return 'payout_id' in request ? request.payout_id : request.commission_id;
}

const MOST_NAMED = 5;

/** Returns the first names, and the number of the others: `line 2, line 3 and 12 more`. */
function nameFirst(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${formatCount(names.length - MOST_NAMED)} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
