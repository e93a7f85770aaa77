// The payment ledger as a whole: requests by state and why, sums by currency, what was sent lately, and the batches.

import { counted, formatCount } from '../../contract/format.ts';
import { readMemoized } from '../../reports/figure.ts';
import { type BatchLine, readBatches } from '../../reports/read-batches.ts';
import {
  type OldestPending,
  readCurrencies,
  readDayOfAttempts,
  readOldestPending,
  readReasons,
} from '../../reports/read-payment-sums.ts';
import { readPaymentStates } from '../../reports/read-payments.ts';
import { momentOrNothing, orNothing, tookOf } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { Page, PageDeps, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { batchPath, describeStates, long, METHODS, STATE_WORDS, sumsTable } from '../payment-words.ts';
import { readId, withQuery } from '../query.ts';
import { section, tableSection } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';

export const paymentsPage: Page = {
  path: '/payments',
  label: 'Payments',
  async read(deps, request) {
    const { href, query } = request;
    const before = readId(query['before']);
    return {
      title: 'Payments',
      body: html`<h1>Payments</h1>
<p><a href="${href('/payments/ledger')}">Search the payment ledger</a></p>
${
  before === null &&
  html`${await statesSection(deps, request)}
${await oldestSection(deps, request)}
${request.mayReadPeople && (await reasonsSection(deps))}
${await sumsSection(deps)}
${await attemptsSection(deps)}`
}
${await batchesSection(deps, request, before)}`,
    };
  },
};

const NOTHING_ASKED = html`<p>Nothing was asked for yet. Finance asks with <code class="run">affiliate-mirror commissions apply FILE</code>.</p>`;

async function statesSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  return tableSection(
    await readPaymentStates(deps, readMemoized),
    {
      id: 'states',
      title: 'Requests by state',
      caption: 'How many requests are in each state',
      none: NOTHING_ASKED,
    },
    [
      column(
        'state',
        ({ state }) =>
          html`<a href="${href(withQuery('/payments/ledger', { state }))}">${stateMark(state)}</a>`,
      ),
      numbers('requests', ({ requests }) => formatCount(requests)),
      column('the first asked', ({ oldest_requested_at }) => momentOf(oldest_requested_at)),
      column('the last ended', ({ last_finished_at }) => momentOrNothing(last_finished_at)),
      column('meaning', ({ state }) => long(STATE_WORDS[state])),
    ],
  );
}

async function oldestSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const figure = await readOldestPending(deps);
  const [oldest] = figure.rows;
  return section({
    id: 'oldest',
    title: 'What waits longest',
    figure,
    body:
      oldest === undefined
        ? html`<p>Nothing waits.</p>`
        : html`<p><a href="${href(`/payments/${oldest.request}`)}">Request ${oldest.request}</a> for the commission <code>${oldest.commission_id}</code> waits for ${durationOf(oldest.age_seconds)}, since ${momentOf(oldest.requested_at)}. ${describeTries(oldest)}${oldest.next_attempt_at !== null && html`, and is not tried before ${momentOf(oldest.next_attempt_at)}`}.</p>`,
  });
}

function describeTries({ attempts, has_failed }: OldestPending): string {
  if (attempts > 0) return `It was tried ${counted(attempts, 'time')} without success`;
  return has_failed ? 'It was tried without success' : 'It was not tried yet';
}

async function reasonsSection(deps: PageDeps): Promise<Html> {
  return tableSection(
    await readReasons(deps),
    {
      id: 'reasons',
      title: 'Why requests wait, or were not carried out',
      caption: 'The most frequent reasons',
      none: html`<p>Every request was carried out.</p>`,
    },
    [
      column('state', ({ state }) => stateMark(state)),
      column('reason', ({ outcome }) => long(outcome)),
      numbers('requests', ({ requests }) => formatCount(requests)),
    ],
  );
}

async function sumsSection(deps: PageDeps): Promise<Html> {
  const figure = await readCurrencies(deps, null);
  const body = sumsTable(figure.rows, deps.amountUnit);
  return section({ id: 'sums', title: 'Sums by currency', figure, body });
}

async function attemptsSection(deps: PageDeps): Promise<Html> {
  return tableSection(
    await readDayOfAttempts(deps),
    {
      id: 'attempts',
      title: 'Sent for payments within a day',
      caption: 'Requests to the program within a day, by how they ended',
      none: html`<p>Nothing was sent within a day.</p>`,
    },
    [
      column('what', ({ method }) => METHODS[method]),
      column('answer', ({ status }) => (status === null ? 'none came' : String(status))),
      column('error', ({ error_code }) => orNothing(error_code)),
      numbers('sent', ({ attempts }) => formatCount(attempts)),
      numbers('half took less than', ({ median_ms: median }) =>
        orNothing(median === null ? null : tookOf(median / 1000)),
      ),
      column('the last at', ({ last_sent_at }) => momentOf(last_sent_at)),
    ],
  );
}

async function batchesSection(
  deps: PageDeps,
  { href, mayReadPeople }: PageRequest,
  before: number | null,
): Promise<Html> {
  const figure = await readBatches(deps, { before, isFull: mayReadPeople });
  const { rows, next } = figure;
  const none = before === null ? NOTHING_ASKED : html`<p>There are no earlier ones.</p>`;
  return section({
    id: 'batches',
    title: before === null ? 'Batches' : 'Earlier batches',
    figure,
    body: html`${rows.length === 0 ? none : batchTable(rows, href, mayReadPeople)}
${!mayReadPeople && rows.length > 0 && html`<p class="quiet">The names of batches are what people wrote, and may hold personal data: they are not shown.</p>`}
${pager({
  label: 'batches',
  first: before === null ? null : href('/payments'),
  next: next === null ? null : href(withQuery('/payments', { before: next })),
})}`,
  });
}

function batchTable(rows: readonly BatchLine[], href: PageRequest['href'], mayReadPeople: boolean): Html {
  const nameOf = ({ batch, newest_request }: BatchLine) =>
    batch === undefined ? `of request ${newest_request}` : (batch ?? 'single requests, in no batch');
  return table('Batches, newest first', rows, [
    column(
      'batch',
      (batch) => html`<span class="long"><a href="${href(batchPath(batch))}">${nameOf(batch)}</a></span>`,
    ),
    numbers('requests', ({ requests }) => formatCount(requests)),
    column('states', ({ states }) => describeStates(states)),
    column('asked', ({ requested_at }) => momentOf(requested_at)),
    column('ended', ({ finished_at }) => momentOrNothing(finished_at)),
    ...(mayReadPeople
      ? [column<BatchLine>('asked by', ({ requested_by }) => orNothing(requested_by ?? null))]
      : []),
  ]);
}
