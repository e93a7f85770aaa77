// What the pages of the payment ledger share: states in words, where a batch is, sums, and the table of requests.

import type { AmountUnit } from '../config/amount-unit.ts';
import { formatCount } from '../contract/format.ts';
import type { BatchOfLog } from '../reports/read-batch-log.ts';
import type { CurrencyLine } from '../reports/read-payment-sums.ts';
import type { LedgerLine } from '../reports/search-ledger.ts';
import { momentOrNothing, moneyOf, NOTHING, orNothing, sumOf } from './figures.ts';
import { type Html, html, type Part } from './html.ts';
import type { PageRequest } from './page.ts';
import { withQuery } from './query.ts';
import { stateMark } from './state-mark.ts';
import { table } from './table.ts';
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

/** Returns the path of a batch: by its name where there is one to show, else by one of its requests. */
export function batchPath({ batch, newest_request }: Pick<BatchOfLog, 'batch' | 'newest_request'>): string {
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
export function describeStates(states: BatchOfLog['states']): string {
  return Object.entries(states)
    .map(([state, requests]) => `${formatCount(requests)} ${state.replaceAll('_', ' ')}`)
    .join(', ');
}

/** Returns the table of sums by currency, with what it counts. */
export function sumsTable(rows: readonly CurrencyLine[], unit: AmountUnit): Html {
  if (rows.length === 0) return html`<p>No payment was asked for.</p>`;
  const sums = table({
    caption: 'What was asked to be paid, done and left, by currency',
    columns: [
      { label: 'currency' },
      { label: 'commissions', isNumber: true },
      { label: 'asked for', isNumber: true },
      { label: 'done', isNumber: true },
      { label: 'pending', isNumber: true },
      { label: 'not done', isNumber: true },
      { label: 'dropped', isNumber: true },
    ],
    rows: rows.map(({ currency, commissions, ...sums }) => [
      currency ?? 'not known',
      formatCount(commissions),
      ...[sums.requested, sums.done, sums.pending, sums.not_done, sums.dropped].map((sum) =>
        currency === null ? orNothing(null) : sumOf(sum, currency, unit),
      ),
    ]),
  });
  return html`${sums}
<p class="quiet">Each commission counts once, however often its payment was asked for. Dropped is what was cancelled, superseded or taken back since.</p>`;
}

/** Returns the table of requests. */
export function ledgerTable(
  lines: readonly LedgerLine[],
  { href, mayReadPeople }: Pick<PageRequest, 'href' | 'mayReadPeople'>,
  unit: AmountUnit,
): Html {
  return table({
    caption: 'Requests, newest first',
    columns: [
      { label: 'request' },
      { label: 'state' },
      ...(mayReadPeople ? [{ label: 'outcome' }] : []),
      { label: 'asked' },
      { label: 'amount', isNumber: true },
      { label: 'affiliate' },
      { label: 'commission' },
      { label: 'failed tries', isNumber: true },
      { label: 'asked at' },
      { label: 'ended at' },
      ...(mayReadPeople ? [{ label: 'reason' }, { label: 'asked by' }] : []),
    ],
    rows: lines.map((line) => [
      html`<a href="${href(`/payments/${line.request}`)}">${line.request}</a>`,
      stateMark(line.state),
      ...(mayReadPeople ? [brief(line.outcome)] : []),
      long(line.asked),
      moneyOf(line.amount, line.currency, unit),
      html`<span class="short">${describeAffiliate(line, href)}</span>`,
      html`<code class="short">${line.commission_id}</code>`,
      formatCount(line.attempts),
      momentOf(line.requested_at),
      momentOrNothing(line.finished_at),
      ...(mayReadPeople ? [brief(line.reason), brief(line.requested_by)] : []),
    ]),
  });
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
