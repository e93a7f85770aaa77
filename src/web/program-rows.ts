// The programs as rows of their list: state, reason, order and search. Pure.

import { counted, formatTimestamp } from '../contract/format.ts';
import type { Concern } from '../reports/find-concerns.ts';
import { type ProgramSummary, worstFirst } from '../reports/program-summary.ts';
import { describeFailure } from './failures.ts';
import type { PageProgram } from './status-page.ts';

/** The worst first. `unread`: its database has not answered since; `starting`: it was not read yet. */
export const ROW_STATES = ['paused', 'unread', 'failing', 'warning', 'starting', 'ok'] as const;

export type RowState = (typeof ROW_STATES)[number];

export interface ProgramRow {
  readonly name: string;
  readonly schema: string;
  readonly state: RowState;
  /** Null if all is well. Names no person, and no host. */
  readonly why: string | null;
  readonly summary: ProgramSummary | null;
  /** The age of its oldest resource by now; null without a summary, or if a resource was never synced. */
  readonly oldestSeconds: number | null;
  /** How long ago the summary was read. */
  readonly ageSeconds: number | null;
}

/** Returns the rows, the worst first. */
export function rowsOf(programs: readonly PageProgram[]): readonly ProgramRow[] {
  const rows = programs.map(rowOf);
  return ROW_STATES.flatMap((state) => worstFirst(rows.filter((row) => row.state === state)));
}

/** Returns the rows of the state with the text in the name, the schema or the reason, in capitals or not. */
export function searchRows(
  rows: readonly ProgramRow[],
  { text, state }: { readonly text: string | null; readonly state: RowState | null },
): readonly ProgramRow[] {
  const asked = (text ?? '').toLowerCase();
  return rows.filter(
    (row) =>
      (state === null || row.state === state) &&
      [row.name, row.schema, row.why ?? ''].some((field) => field.toLowerCase().includes(asked)),
  );
}

function rowOf({ name, viewDeps, condition, readFigures }: PageProgram): ProgramRow {
  const figures = readFigures();
  const summary = figures?.summary ?? null;
  const ageSeconds = figures?.ageSeconds ?? null;
  const oldestSeconds = summary?.age_seconds == null ? null : summary.age_seconds + (ageSeconds ?? 0);
  const row = { name: name ?? '', schema: viewDeps.mirrorSchema, summary, oldestSeconds, ageSeconds };
  if (condition.state === 'paused') return { ...row, state: 'paused', why: condition.reason };
  if (figures !== null && figures.error !== null) {
    return { ...row, state: 'unread', why: describeFailure(figures.error).title };
  }
  if (summary === null) return { ...row, state: 'starting', why: null };
  return { ...row, state: summary.state, why: describeConcern(summary) };
}

function describeConcern({ concern, concerns }: ProgramSummary): string | null {
  if (concern === null) return null;
  const more = concerns > 1 ? `; ${counted(concerns - 1, 'more thing')}` : '';
  return `${sentenceOf(concern)}${more}`;
}

// The words of an error may quote an answer of the API: its code is shown instead.
function sentenceOf({ summary, error_code, since }: Concern): string {
  const code = error_code === null ? '' : ` (${error_code})`;
  const when = since === null ? '' : `, since ${formatTimestamp(since)}`;
  return `${summary}${code}${when}`;
}
