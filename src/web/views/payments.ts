// The payment ledger as a whole: requests by state and why, sums by currency, what was sent lately, and the batches.

import { counted, formatCount } from '../../contract/format.ts';
import { readMemoized } from '../../reports/figure.ts';
import { type BatchLine, readBatches } from '../../reports/read-batches.ts';
import { readOptionalLists } from '../../reports/read-health.ts';
import {
  type OldestPending,
  readCurrencies,
  readDayOfAttempts,
  readOldestPending,
  readReasons,
} from '../../reports/read-payment-sums.ts';
import { readPaymentStates } from '../../reports/read-payments.ts';
import { readPayoutStates } from '../../reports/read-payouts.ts';
import { command, durationOf, momentOf, momentOrNothing, orNothing, tookOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { pager } from '../pager.ts';
import { batchPath, describeStates, long, METHODS, STATE_WORDS, sumsTable } from '../payment-words.ts';
import { readId, withQuery } from '../query.ts';
import { section, tableSection } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import type { View, ViewDeps, ViewRequest } from '../view.ts';
import { paidSection } from './paid-sums.ts';

export const paymentsView: View = {
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
${await payoutsSection(deps, request)}
${await paidSection(deps, request)}
${await sumsSection(deps)}
${await attemptsSection(deps)}`
}
${await batchesSection(deps, request, before)}`,
    };
  },
};

function sayNothingAsked(request: ViewRequest): Html {
  return html`<p>Nothing was asked for yet. Finance asks with ${command(request, 'commissions apply FILE')}.</p>`;
}

async function statesSection(deps: ViewDeps, request: ViewRequest): Promise<Html> {
  const { href } = request;
  return tableSection(
    await readPaymentStates(deps, readMemoized),
    {
      id: 'states',
      title: 'Requests by state',
      caption: 'How many requests are in each state',
      none: sayNothingAsked(request),
    },
    [
      column(
        'state',
        ({ state, needing_attention }) =>
          html`<a href="${href(withQuery('/payments/ledger', { state }))}">${stateMark(state, needing_attention > 0)}</a>`,
      ),
      numbers('requests', ({ requests }) => formatCount(requests)),
      numbers('need attention', ({ needing_attention }) => formatCount(needing_attention)),
      column('the first asked', ({ oldest_requested_at }) => momentOf(oldest_requested_at)),
      column('the last ended', ({ last_finished_at }) => momentOrNothing(last_finished_at)),
      column('meaning', ({ state }) => long(STATE_WORDS[state])),
    ],
  );
}

async function oldestSection(deps: ViewDeps, { href }: ViewRequest): Promise<Html> {
  const figure = await readOldestPending(deps);
  const [oldest] = figure.rows;
  return section({
    id: 'oldest',
    title: 'Oldest pending request',
    figure,
    body:
      oldest === undefined
        ? html`<p>No request is pending.</p>`
        : html`<p><a href="${href(`/payments/${oldest.request}`)}">Request ${oldest.request}</a> for the ${oldest.commission_id === null ? 'payout' : 'commission'} <code>${oldest.commission_id ?? oldest.payout_id}</code> waits for ${durationOf(oldest.age_seconds)}, since ${momentOf(oldest.requested_at)}. ${describeTries(oldest)}${oldest.next_attempt_at !== null && html`, and is not tried before ${momentOf(oldest.next_attempt_at)}`}.</p>`,
  });
}

function describeTries({ attempts, has_failed }: OldestPending): string {
  if (attempts > 0) return `It was tried ${counted(attempts, 'time')} without success`;
  return has_failed ? 'It was tried without success' : 'It was not tried yet';
}

async function reasonsSection(deps: ViewDeps): Promise<Html> {
  return tableSection(
    await readReasons(deps),
    {
      id: 'reasons',
      title: 'Reasons why requests are pending or were not carried out',
      caption: 'The most frequent reasons',
      none: html`<p>Every request was carried out, or followed by another one for the same value.</p>`,
    },
    [
      column('state', ({ state }) => stateMark(state)),
      column('reason', ({ outcome }) => long(outcome)),
      numbers('requests', ({ requests }) => formatCount(requests)),
    ],
  );
}

async function sumsSection(deps: ViewDeps): Promise<Html> {
  const figure = await readCurrencies(deps, null);
  const body = sumsTable(figure.rows, deps.money);
  return section({ id: 'sums', title: 'Sums by currency', figure, body });
}

/** Returns null unless the API lists its payouts. */
async function payoutsSection(deps: ViewDeps, request: ViewRequest): Promise<Html | null> {
  const lists = await readOptionalLists(deps);
  if (!lists.rows.some(({ resource, is_used }) => resource === 'payouts' && is_used)) return null;
  return tableSection(
    await readPayoutStates(deps),
    {
      id: 'payouts',
      title: 'Payouts of the affiliate program by state',
      caption: 'How many payouts are in each state, by currency',
      none: html`<p>The mirror has no payout yet.</p>`,
      note: html`<p class="quiet">As of the last sync. Those that are to be paid: ${command(request, 'payouts list')}.</p>`,
    },
    [
      column('state', ({ state }) => stateMark(state)),
      column('currency', ({ currency }) => currency),
      numbers('payouts', ({ payouts }) => formatCount(payouts)),
      numbers('amount', ({ amount, currency }) => deps.money.format(BigInt(amount), currency)),
    ],
  );
}

async function attemptsSection(deps: ViewDeps): Promise<Html> {
  return tableSection(
    await readDayOfAttempts(deps),
    {
      id: 'attempts',
      title: 'Sent for payments within a day',
      caption: 'Requests to the API within a day, by outcome',
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

async function batchesSection(deps: ViewDeps, request: ViewRequest, before: number | null): Promise<Html> {
  const { href, mayReadPeople } = request;
  const figure = await readBatches(deps, { before, isFull: mayReadPeople });
  const { rows, next } = figure;
  const none = before === null ? sayNothingAsked(request) : html`<p>There are no earlier ones.</p>`;
  return section({
    id: 'batches',
    title: before === null ? 'Batches' : 'Earlier batches',
    figure,
    body: html`${rows.length === 0 ? none : batchTable(rows, href, mayReadPeople)}
${!mayReadPeople && rows.length > 0 && html`<p class="quiet">The names of batches may hold personal data: they are shown with the password of <code>STATUS_PII_PASSWORD</code>.</p>`}
${pager(request, { label: 'batches', path: '/payments', at: before, next })}`,
  });
}

function batchTable(rows: readonly BatchLine[], href: ViewRequest['href'], mayReadPeople: boolean): Html {
  const nameOf = ({ batch, newest_request }: BatchLine) =>
    batch === undefined ? `of request ${newest_request}` : (batch ?? 'single requests, in no batch');
  return table('Batches, newest first', rows, [
    column(
      'batch',
      (batch) =>
        html`<span class="long"><a href="${href(batchPath(batch.newest_request))}">${nameOf(batch)}</a></span>`,
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
