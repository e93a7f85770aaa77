// What the pages of the payment ledger share: states in words, where a batch is, sums, and the table of requests.

import type { AmountUnit } from '../config/amount-unit.ts';
import { formatCount } from '../contract/format.ts';
import type { BatchLine } from '../reports/read-batches.ts';
import type { CurrencyLine } from '../reports/read-payment-sums.ts';
import type { LedgerLine } from '../reports/search-ledger.ts';
import { momentOrNothing, moneyOf, NOTHING, sumOf } from './figures.ts';
import { type Html, html, type Part } from './html.ts';
import type { PageRequest } from './page.ts';
import { withQuery } from './query.ts';
import { stateMark } from './state-mark.ts';
import { type Column, column, numbers, table } from './table.ts';
import { momentOf } from './words.ts';

/** By state, the pending one first: what it means. */
export const STATE_WORDS: Readonly<Record<LedgerLine['state'], string>> = {
  pending: 'waits, or is being applied now',
  applied: 'the program has it as asked',
  unchanged: 'it was so already; nothing was sent',
  conflict: 'what was expected did not hold, or the sale was refunded; nothing more was sent',
  not_found: 'the program has no such commission',
  rejected: 'the program refused it',
  failed: 'tried often enough without success; may be retried',
  superseded: 'dropped for a newer request',
  cancelled: 'cancelled before anything was sent',
};

/** What a request to the program does. */
export const METHODS = { PUT: 'change (PUT)', GET: 'reading (GET)' } as const;

/** Returns the path of a batch: by its name where there is one to show, else by one of its requests. */
export function batchPath({ batch, newest_request }: Pick<BatchLine, 'batch' | 'newest_request'>): string {
  const name = encodeURIComponent(batch?.toWellFormed() ?? '');
  return name === '' || name.length > LONGEST_NAME || DOTS.includes(name)
    ? withQuery('/payments/batches/of', { request: newest_request })
    : `/payments/batches/${name}`;
}

/** The router takes no longer part of a path. */
const LONGEST_NAME = 100;
/** A browser takes them for a way up, encoded or not. */
const DOTS = ['.', '..'];

/** Returns such as `12 applied, 1 failed`. */
export function describeStates(states: BatchLine['states']): string {
  return Object.entries(states)
    .map(([state, requests]) => `${formatCount(requests)} ${state.replaceAll('_', ' ')}`)
    .join(', ');
}

/** Returns the table of sums by currency, with what it counts. */
export function sumsTable(rows: readonly CurrencyLine[], unit: AmountUnit): Html {
  if (rows.length === 0) return html`<p>No payment was asked for.</p>`;
  const sums = (label: string, of: (line: CurrencyLine) => number | null) =>
    numbers<CurrencyLine>(label, (line) =>
      line.currency === null ? NOTHING : sumOf(of(line), line.currency, unit),
    );
  return html`${table('What was asked to be paid, done and left, by currency', rows, [
    column('currency', ({ currency }) => currency ?? 'not known'),
    numbers('commissions', ({ commissions }) => formatCount(commissions)),
    sums('asked for', ({ requested }) => requested),
    sums('done', ({ done }) => done),
    sums('pending', ({ pending }) => pending),
    sums('not done', ({ not_done }) => not_done),
    sums('dropped', ({ dropped }) => dropped),
  ])}
<p class="quiet">Each commission counts once, however often its payment was asked for. Dropped is what was cancelled, superseded or taken back since.</p>`;
}

/** Returns the table of requests. */
export function ledgerTable(
  lines: readonly LedgerLine[],
  { href, mayReadPeople }: Pick<PageRequest, 'href' | 'mayReadPeople'>,
  unit: AmountUnit,
): Html {
  const people = (...columns: Column<LedgerLine>[]) => (mayReadPeople ? columns : []);
  return table('Requests, newest first', lines, [
    column('request', ({ request }) => html`<a href="${href(`/payments/${request}`)}">${request}</a>`),
    column('state', ({ state }) => stateMark(state)),
    ...people(column('outcome', ({ outcome }) => brief(outcome))),
    column('asked', ({ asked }) => long(asked)),
    numbers('amount', ({ amount, currency }) => moneyOf(amount, currency, unit)),
    column('affiliate', (line) => html`<span class="short">${describeAffiliate(line, href)}</span>`),
    column('commission', ({ commission_id }) => html`<code class="short">${commission_id}</code>`),
    numbers('failed tries', ({ attempts }) => formatCount(attempts)),
    column('asked at', ({ requested_at }) => momentOf(requested_at)),
    column('ended at', ({ finished_at }) => momentOrNothing(finished_at)),
    ...people(
      column('reason', ({ reason }) => brief(reason)),
      column('asked by', ({ requested_by }) => brief(requested_by)),
    ),
  ]);
}

/** Returns what people or the program wrote, in a cell; a dash where there is nothing. */
export function long(text: string | null | undefined): Part {
  return text === null || text === undefined || text === ''
    ? NOTHING
    : html`<span class="long">${text}</span>`;
}

/** Returns the same, cut after some lines: the page of the request has the whole of it. */
function brief(text: string | null | undefined): Part {
  return text === null || text === undefined || text === ''
    ? NOTHING
    : html`<span class="long brief">${text}</span>`;
}

/** Returns the affiliate with a link to all requests for it: its name where that may be shown, else its identifier. */
export function describeAffiliate(
  { affiliate_id, affiliate_name, affiliate_email }: LedgerLine,
  href: PageRequest['href'],
): Html {
  if (affiliate_id === null) return html`<span class="quiet">not known</span>`;
  const path = withQuery('/payments/ledger', { affiliate: affiliate_id });
  return html`<a href="${href(path)}">${affiliate_name ?? affiliate_email ?? affiliate_id}</a>`;
}
