// The status of several programs: a line for each, the worst first, and their sums.

import { counted, formatCount, formatDuration } from '../../contract/format.ts';
import { type ProgramState, type ProgramSummary, worstFirst } from '../../reports/program-summary.ts';
import { renderColumns } from '../output/render-table.ts';

export interface SummarizedProgram {
  readonly name: string;
  /** Null if it could not be read. */
  readonly summary: ProgramSummary | null;
  /** Why it could not. */
  readonly problem: string | null;
}

const STATES: Readonly<Record<ProgramState, string>> = {
  failing: 'not well',
  warning: 'not quite well',
  ok: 'well',
};
const UNREAD = 'cannot be read';

const stateOf = ({ summary }: SummarizedProgram) => (summary === null ? UNREAD : STATES[summary.state]);

/** Returns the table, the line of sums, and what to run for the worst. */
export function renderPrograms(programs: readonly SummarizedProgram[]): string {
  const ordered = worstFirst(programs);
  const table = renderColumns(ordered, {
    program: ({ name }) => name,
    state: stateOf,
    age: ({ summary }) => summary && describeAge(summary),
    syncing: ({ summary }) => summary && (summary.running.join(', ') || null),
    'payments waiting': ({ summary }) => summary?.payments_waiting ?? null,
    'need attention': ({ summary }) => summary?.payments_needing_attention ?? null,
    'what is wrong': ({ summary, problem }) => problem ?? summary?.concern?.what ?? null,
  });
  const [worst] = ordered;
  const more =
    worst !== undefined && stateOf(worst) !== STATES.ok
      ? [`Of one of them, and what to run: affiliate-mirror status --program ${worst.name}`]
      : [];
  return [table, describeSums(programs), ...more].join('\n');
}

function describeAge({ as_of, age_seconds }: ProgramSummary): string {
  return as_of === null || age_seconds === null ? 'never synced' : formatDuration(age_seconds * 1000);
}

function describeSums(programs: readonly SummarizedProgram[]): string {
  const states = Map.groupBy(programs, stateOf);
  const words = [UNREAD, ...Object.values(STATES)].flatMap((state) => {
    const of = states.get(state)?.length ?? 0;
    return of === 0 ? [] : [`${formatCount(of)} ${state}`];
  });
  const sum = (read: (summary: ProgramSummary) => number) =>
    programs.reduce((total, { summary }) => total + (summary === null ? 0 : read(summary)), 0);
  const waiting = sum(({ payments_waiting }) => payments_waiting);
  const attention = sum(({ payments_needing_attention }) => payments_needing_attention);
  return `${counted(programs.length, 'program')}: ${words.join(', ')}; ${counted(waiting, 'payment')} waiting, ${formatCount(attention)} that need attention`;
}
