// The list of the programs of PROGRAMS_FILE, which is the first view if there are several. It reads what the worker has
// read of them, and no database.

import type { FastifyInstance } from 'fastify';
import { counted, formatCount } from '../contract/format.ts';
import { addressOf, rootOf } from './base-path.ts';
import { durationOf, NOTHING } from './cells.ts';
import type { FrameOf } from './frames.ts';
import { type Html, html, type Part } from './html.ts';
import { renderFrame } from './layout.ts';
import { type ProgramRow, ROW_STATES, type RowState, rowsOf, searchRows } from './program-rows.ts';
import { readChoice, readQuery, readText, withQuery } from './query.ts';
import { stateMark } from './state-mark.ts';
import type { StatusPageDeps } from './status-page.ts';
import { column, numbers, table } from './table.ts';
import type { ViewRequest } from './view.ts';
import { send } from './view-routes.ts';

type ListDeps = Pick<StatusPageDeps, 'programs' | 'fileProblems'> & { readonly frameOf: FrameOf };

export function addProgramList(
  site: FastifyInstance,
  { programs, fileProblems, frameOf }: ListDeps,
  basePath: string,
): void {
  site.get('/', (request, reply) => {
    const asked = { query: readQuery(request.url), href: (path: string) => addressOf(basePath, path) };
    const rows = rowsOf(programs());
    const body = html`${showProblems(fileProblems())}${showPrograms(rows, asked)}`;
    const frame = frameOf(request, { program: null, here: request.url, now: null });
    return send(reply, renderFrame(frame, { title: titleOf(rows), body }));
  });
}

type Asked = Pick<ViewRequest, 'query' | 'href'>;

function showPrograms(rows: readonly ProgramRow[], { query, href }: Asked): Html {
  const text = readText(query['q']);
  const state = readChoice(query['state'], ROW_STATES);
  const found = searchRows(rows, { text, state });
  return html`<section class="verdict ${toneOf(rows)}" id="verdict" aria-labelledby="verdict-title">
<h1 id="verdict-title">${titleOf(rows)}</h1>
<p>${linkStates(rows, href)}</p>
</section>
<section class="programs" id="programs" aria-labelledby="programs-title">
<h2 id="programs-title" class="hidden">Programs</h2>
<form action="${href('/')}" role="search">
<label>Name, schema or reason <input name="q" type="search" value="${text}"></label>
${state !== null && html`<input name="state" type="hidden" value="${state}">`}
<button>Search</button>
${(text ?? state) !== null && html`<a href="${href('/')}">All programs</a>`}
</form>
${found.length === 0 ? html`<p>No program fits.</p>` : table('Programs, the worst first', found, columnsOf(href))}
</section>
`;
}

const columnsOf = (href: Asked['href']) => [
  column<ProgramRow>('Program', ({ name, schema }) => {
    return html`<a href="${href(`${rootOf(name)}/`)}" title="schema ${schema}">${name}</a>`;
  }),
  column<ProgramRow>('State', ({ state }) => stateMark(state)),
  column<ProgramRow>('Why', ({ why, summary }) => why ?? describeRunning(summary)),
  numbers<ProgramRow>('As new as', describeAge),
  numbers<ProgramRow>('Payments waiting', ({ summary }) => describePayments(summary)),
  numbers<ProgramRow>('Read', ({ ageSeconds }) =>
    ageSeconds === null ? NOTHING : `${durationOf(ageSeconds)} ago`,
  ),
];

function describeRunning(summary: ProgramRow['summary']): Part {
  if (summary === null || summary.running.length === 0) return null;
  return html`<span class="quiet">being synced: ${summary.running.join(', ')}</span>`;
}

function describeAge({ summary, oldestSeconds }: ProgramRow): Part {
  if (summary === null) return NOTHING;
  return oldestSeconds === null ? 'never synced' : `${durationOf(oldestSeconds)} ago`;
}

function describePayments(summary: ProgramRow['summary']): Part {
  if (summary === null) return NOTHING;
  const { payments_waiting: waiting, payments_needing_attention: attention } = summary;
  if (attention === 0) return formatCount(waiting);
  return html`${formatCount(waiting)} <span class="bad">(${formatCount(attention)} to look at)</span>`;
}

const BAD: readonly RowState[] = ['paused', 'unread', 'failing'];
const MILD: readonly RowState[] = ['warning', 'starting'];

function titleOf(rows: readonly ProgramRow[]): string {
  const of = counted(rows.length, 'program');
  const bad = count(rows, BAD);
  if (bad > 0) return `Not well: ${formatCount(bad)} of ${of}.`;
  const mild = count(rows, MILD);
  return mild > 0 ? `Not quite well: ${formatCount(mild)} of ${of}.` : `All is well: ${of}.`;
}

function toneOf(rows: readonly ProgramRow[]): string {
  return count(rows, BAD) > 0 ? 'bad' : count(rows, MILD) > 0 ? 'warn' : '';
}

function count(rows: readonly ProgramRow[], states: readonly RowState[]): number {
  return rows.filter(({ state }) => states.includes(state)).length;
}

/** Each state that a program has, with their number, as a link to these programs. */
function linkStates(rows: readonly ProgramRow[], href: Asked['href']): readonly Part[] {
  return ROW_STATES.filter((state) => count(rows, [state]) > 0).map(
    (state, index) =>
      html`${index > 0 && ' · '}<a href="${href(withQuery('/', { state }))}">${formatCount(count(rows, [state]))} ${state}</a>`,
  );
}

function showProblems(problems: readonly string[]): Html | null {
  if (problems.length === 0) return null;
  return html`<section class="verdict bad" id="file" role="status">
<p><strong>PROGRAMS_FILE was refused, as it is now.</strong> The programs are served as before. Correct it; the worker reads it again within half a minute:</p>
<ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul>
</section>
`;
}
