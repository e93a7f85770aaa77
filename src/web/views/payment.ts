// One payment request: what was asked, its outcome, and every attempt.

import { ERROR_WORDS } from '../../base/error-words.ts';
import { formatCount, withLocalTimes } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import {
  type Attempt,
  type LedgerDetails,
  readAttempts,
  readLedgerLine,
} from '../../reports/search-ledger.ts';
import { momentOf, momentOrNothing, moneyOf, NOTHING, orNothing, tookOf } from '../cells.ts';
import { type Html, html, type Part } from '../html.ts';
import { pager } from '../pager.ts';
import {
  batchPath,
  describeAffiliate,
  describeState,
  long,
  METHODS,
  payoutPath,
  STATE_WORDS,
} from '../payment-words.ts';
import { readId } from '../query.ts';
import { section } from '../section.ts';
import { column, numbers, table } from '../table.ts';
import { notThere, type View, type ViewRequest } from '../view.ts';

export const paymentView: View = {
  path: '/payments/:id',
  label: null,
  async read(deps, request) {
    const { params, href, mayReadPeople } = request;
    const asked = params['id'] ?? '';
    const id = readId(asked);
    const isFull = mayReadPeople;
    const figure = id === null ? null : await readLedgerLine(deps, id, { isFull });
    const line = figure?.rows[0];
    if (figure === null || line === undefined) {
      const back = { href: href('/payments/ledger'), label: 'The payment ledger' };
      return notThere(`The payment ledger has no request ${asked}.`, back);
    }
    const before = readId(request.query['before']);
    const attempts = await readAttempts(deps, line.request, { before, isFull });
    const path = `/payments/${line.request}`;
    return {
      title: `Request ${line.request}`,
      body: html`<h1>Request ${line.request}: ${withLocalTimes(line.asked)}</h1>
${section({ id: 'request', title: 'Outcome', figure, body: describeLine(line, request, deps.money) })}
${section({
  id: 'attempts',
  title: 'Attempts',
  figure: attempts,
  body: html`${
    before !== null && attempts.rows.length === 0
      ? html`<p>No more.</p>`
      : attemptsTable(attempts.rows, line, mayReadPeople)
  }
${pager(request, { label: 'attempts', path, at: before, next: attempts.next, anchor: '#attempts' })}`,
})}`,
    };
  },
};

function describeLine(line: LedgerDetails, { href, mayReadPeople }: ViewRequest, money: MoneyFormat): Html {
  const people: readonly (readonly [string, Part])[] = [
    ['outcome', orNothing(withLocalTimes(line.outcome ?? ''))],
    ['note', orNothing(withLocalTimes(line.note ?? ''))],
    ['reason', orNothing(line.reason ?? null)],
    ['asked by', orNothing(line.requested_by ?? null)],
    ['email of the affiliate', orNothing(line.affiliate_email ?? null)],
  ];
  const batch =
    line.batch === undefined ? `that of request ${line.request}` : (line.batch ?? 'none: a single request');
  const facts: readonly (readonly [string, Part])[] = [
    ['state', html`${describeState(line, href)} <span class="quiet">${STATE_WORDS[line.state]}</span>`],
    ...(line.commission_id === null
      ? []
      : [['commission', html`<code>${line.commission_id}</code>`] as const]),
    ...(line.payout_id === null
      ? []
      : [
          [
            'payout',
            html`<a href="${href(payoutPath(line.payout_id))}"><code>${line.payout_id}</code></a>`,
          ] as const,
        ]),
    ['amount', moneyOf(line.amount, line.currency, money)],
    ['affiliate', describeAffiliate(line, href)],
    ['batch', html`<a href="${href(batchPath(line.request))}">${batch}</a>`],
    ['asked', momentOf(line.requested_at)],
    ['ended', momentOrNothing(line.finished_at)],
    ['not tried before', line.state === 'pending' ? momentOrNothing(line.next_attempt_at) : NOTHING],
    [
      'tries without success',
      html`${formatCount(line.attempts)} <span class="quiet">outages and 429 do not count</span>`,
    ],
    ['changes sent', formatCount(line.puts)],
    [
      'paid, in the API',
      line.is_read ? change(line.paid_at_before, line.paid_at_after, 'unpaid') : 'not known',
    ],
    ['payable from', change(line.due_at_before, line.due_at_after, 'not known')],
    ...(mayReadPeople ? people : []),
  ];
  return html`<dl class="facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`)}</dl>
${!mayReadPeople && html`<p class="quiet">Notes, reasons, names and the words of the outcome may hold personal data: they are not shown.</p>`}`;
}

function change(before: Timestamp | null, after: Timestamp | null, none: string): Html {
  const say = (timestamp: Timestamp | null) => (timestamp === null ? none : momentOf(timestamp));
  return before === after
    ? html`${say(after)}`
    : html`${say(before)} <span aria-hidden="true">→</span><span class="hidden">, then</span> ${say(after)}`;
}

function attemptsTable(attempts: readonly Attempt[], line: LedgerDetails, mayReadPeople: boolean): Html {
  if (attempts.length === 0) {
    return html`<p>${wasTried(line) ? 'The attempts were deleted by age.' : 'Nothing was sent.'}</p>`;
  }
  return table('Requests to the API, newest first', attempts, [
    column('attempt', ({ id }) => String(id)),
    column('what', ({ method }) => METHODS[method]),
    column('sent', ({ sent_at }) => momentOf(sent_at)),
    numbers('took', ({ duration_ms: took }) => (took === null ? NOTHING : tookOf(took / 1000))),
    column('answer', ({ status }) => (status === null ? 'none came' : String(status))),
    column('error', ({ error_code: code }) => (code === null ? NOTHING : describeError(code))),
    column('form', ({ sent }) => (sent === null ? NOTHING : html`<code>${sent}</code>`)),
    ...(mayReadPeople ? [column<Attempt>('in words', ({ error }) => long(error))] : []),
  ]);
}

/** States of a request for which nothing need have been sent. */
const UNTRIED: readonly LedgerDetails['state'][] = ['pending', 'superseded', 'cancelled'];

function wasTried({ state, attempts, is_read }: LedgerDetails): boolean {
  return is_read || attempts > 0 || !UNTRIED.includes(state);
}

function describeError(code: string): Html {
  return html`<code>${code}</code> <span class="quiet">${ERROR_WORDS[code] ?? null}</span>`;
}
