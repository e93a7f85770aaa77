// Shared by the views of the payment ledger: states in words, paths of batches, sums, and the table of requests.

import { formatCount, withLocalTimes } from '../contract/format.ts';
import type { MoneyFormat } from '../contract/money.ts';
import type { BatchLine } from '../reports/read-batches.ts';
import type { CurrencyLine } from '../reports/read-payment-sums.ts';
import type { LedgerLine } from '../reports/search-ledger.ts';
import { momentOf, momentOrNothing, moneyOf, NOTHING, sumOf } from './cells.ts';
import { type Html, html, type Part } from './html.ts';
import { withQuery } from './query.ts';
import { stateMark } from './state-mark.ts';
import { column, numbers, table } from './table.ts';
import type { ViewRequest } from './view.ts';

/** In the order of the ledger's search form. */
export const STATE_WORDS: Readonly<Record<LedgerLine['state'], string>> = {
  pending: 'waiting, or being applied now',
  applied: 'the API has it as asked',
  unchanged: 'the API had it so already; nothing was sent',
  conflict: 'the live value is not the expected one, or the sale was refunded; nothing more was sent',
  not_found: 'the API has no such commission',
  rejected: 'the API refused it',
  failed: 'gave up after several tries; may be retried',
  superseded: 'replaced by a newer request',
  cancelled: 'cancelled before anything was sent',
};

export const METHODS = { PUT: 'change (PUT)', GET: 'reading (GET)' } as const;

/** Returns the path of a batch, by any of its requests: its name may hold personal data, and be hard to spell. */
export function batchPath(request: number): string {
  return `/payments/batches/${request}`;
}

/** Returns the path of a payout of the affiliate program. */
export function payoutPath(payout: string): string {
  return `/payments/payouts/${encodeURIComponent(payout)}`;
}

/** Returns such as `12 applied, 1 failed`. */
export function describeStates(states: BatchLine['states']): string {
  return Object.entries(states)
    .map(([state, requests]) => `${formatCount(requests)} ${state.replaceAll('_', ' ')}`)
    .join(', ');
}

export function sumsTable(rows: readonly CurrencyLine[], money: MoneyFormat): Html {
  if (rows.length === 0) return html`<p>No payment was asked for.</p>`;
  const sums = (label: string, of: (line: CurrencyLine) => number | null) =>
    numbers<CurrencyLine>(label, (line) =>
      line.currency === null ? NOTHING : sumOf(of(line), line.currency, money),
    );
  return html`${table('Payments asked for, done and left, by currency', rows, [
    column('currency', ({ currency }) => currency ?? 'not known'),
    numbers('commissions', ({ commissions }) => formatCount(commissions)),
    sums('asked for', ({ requested }) => requested),
    sums('done', ({ done }) => done),
    sums('pending', ({ pending }) => pending),
    sums('not done', ({ not_done }) => not_done),
    sums('dropped', ({ dropped }) => dropped),
  ])}
<p class="quiet">Each commission counts once, however often its payment was asked for. Dropped: cancelled, superseded or taken back since.</p>`;
}

export function ledgerTable(
  lines: readonly LedgerLine[],
  { href, mayReadPeople }: Pick<ViewRequest, 'href' | 'mayReadPeople'>,
  money: MoneyFormat,
): Html {
  return table('Requests, newest first', lines, [
    column('request', ({ request }) => html`<a href="${href(`/payments/${request}`)}">${request}</a>`),
    column(
      'state',
      (line) =>
        html`${describeState(line, href)}${line.attempts > 0 && html` <small>failed tries: ${formatCount(line.attempts)}</small>`}${brief(line.outcome)}`,
    ),
    column(
      'asked',
      ({ request, asked, reason, batch }) =>
        html`${brief(asked)}${brief(reason)}${batch != null && html`<span class="long brief">in <a href="${href(batchPath(request))}">${batch}</a></span>`}`,
    ),
    numbers('amount', ({ amount, currency }) => moneyOf(amount, currency, money)),
    column(
      'affiliate, commission or payout',
      (line) =>
        html`<span class="short">${describeAffiliate(line, href)}</span>${describeSubject(line, href)}`,
    ),
    column(
      mayReadPeople ? 'asked at, by, ended at' : 'asked at, ended at',
      ({ requested_at, requested_by, finished_at }) =>
        html`${momentOf(requested_at)}<br>${brief(requested_by)}${momentOrNothing(finished_at)}`,
    ),
  ]);
}

function describeSubject({ commission_id, payout_id }: LedgerLine, href: ViewRequest['href']): Html {
  return payout_id !== null && commission_id === null
    ? html`<span class="short">payout</span><a href="${href(payoutPath(payout_id))}"><code class="short">${payout_id}</code></a>`
    : html`<code class="short">${commission_id}</code>`;
}

/** Returns the state, and the request that followed one that did not end well. */
export function describeState({ state, followed_by }: LedgerLine, href: ViewRequest['href']): Html {
  return html`${stateMark(state, followed_by === null)}${
    followed_by !== null &&
    html` <small>then <a href="${href(`/payments/${followed_by}`)}">request ${followed_by}</a></small>`
  }`;
}

/** Returns free text in a cell, its times in the display zone; a dash if there is none. */
export function long(text: string | null | undefined): Part {
  return text === null || text === undefined || text === ''
    ? NOTHING
    : html`<span class="long">${withLocalTimes(text)}</span>`;
}

/** Cuts the text after some lines: the view of the request shows all of it. Undefined: it may not be shown. */
function brief(text: string | null | undefined): Part {
  return (text ?? '') !== '' && html`<span class="long brief">${withLocalTimes(text ?? '')}</span>`;
}

/** Links to all requests for the affiliate, by its name if that may be shown, else by its identifier. */
export function describeAffiliate(
  {
    affiliate_id,
    affiliate_name,
    affiliate_email,
  }: Pick<LedgerLine, 'affiliate_id' | 'affiliate_name' | 'affiliate_email'>,
  href: ViewRequest['href'],
): Html {
  if (affiliate_id === null) return html`<span class="quiet">not known</span>`;
  const path = withQuery('/payments/ledger', { affiliate: affiliate_id });
  return html`<a href="${href(path)}">${affiliate_name ?? affiliate_email ?? affiliate_id}</a>`;
}
