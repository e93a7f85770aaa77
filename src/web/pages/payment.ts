// One request of the payment ledger: what was asked, what became of it, and every attempt.

import type { AmountUnit } from '../../config/amount-unit.ts';
import { formatCount } from '../../contract/format.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import {
  type Attempt,
  type LedgerDetails,
  readAttempts,
  readLedgerLine,
} from '../../reports/search-ledger.ts';
import { ERROR_WORDS } from '../error-words.ts';
import { momentOrNothing, moneyOf, NOTHING, orNothing, tookOf } from '../figures.ts';
import { type Html, html, type Part } from '../html.ts';
import type { Page, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { batchPath, describeAffiliate, long, METHODS, STATE_WORDS } from '../payment-words.ts';
import { readId, withQuery } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import { momentOf } from '../words.ts';
import { notThere } from './not-there.ts';

export const paymentPage: Page = {
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
      body: html`<h1>Request ${line.request}: ${line.asked}</h1>
${section({ id: 'request', title: 'What became of it', figure, body: describeLine(line, request, deps.amountUnit) })}
${section({
  id: 'attempts',
  title: 'What was sent for it',
  figure: attempts,
  body: html`${
    before !== null && attempts.rows.length === 0
      ? html`<p>No more.</p>`
      : attemptsTable(attempts.rows, line, mayReadPeople)
  }
${pager({
  label: 'what was sent',
  first: before === null ? null : href(`${path}#attempts`),
  next: attempts.next === null ? null : href(`${withQuery(path, { before: attempts.next })}#attempts`),
})}`,
})}`,
    };
  },
};

function describeLine(line: LedgerDetails, { href, mayReadPeople }: PageRequest, unit: AmountUnit): Html {
  const people: readonly (readonly [string, Part])[] = [
    ['outcome', orNothing(line.outcome ?? null)],
    ['note', orNothing(line.note ?? null)],
    ['reason', orNothing(line.reason ?? null)],
    ['asked by', orNothing(line.requested_by ?? null)],
    ['email of the affiliate', orNothing(line.affiliate_email ?? null)],
  ];
  const batch =
    line.batch === undefined ? `that of request ${line.request}` : (line.batch ?? 'none: a single request');
  const facts: readonly (readonly [string, Part])[] = [
    ['state', html`${stateMark(line.state)} <span class="quiet">${STATE_WORDS[line.state]}</span>`],
    ['commission', html`<code>${line.commission_id}</code>`],
    ['amount', moneyOf(line.amount, line.currency, unit)],
    ['affiliate', describeAffiliate(line, href)],
    [
      'batch',
      html`<a href="${href(batchPath({ batch: line.batch ?? null, newest_request: line.request }))}">${batch}</a>`,
    ],
    ['asked', momentOf(line.requested_at)],
    ['ended', momentOrNothing(line.finished_at)],
    ['not tried before', line.state === 'pending' ? momentOrNothing(line.next_attempt_at) : NOTHING],
    [
      'tries without success',
      html`${formatCount(line.attempts)} <span class="quiet">outages and 429 do not count</span>`,
    ],
    ['changes sent', formatCount(line.puts)],
    [
      'paid, in the program',
      line.is_read ? change(line.paid_at_before, line.paid_at_after, 'unpaid') : 'not known',
    ],
    ['payable from', change(line.due_at_before, line.due_at_after, 'not known')],
    ...(mayReadPeople ? people : []),
  ];
  return html`<dl class="facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`)}</dl>
${!mayReadPeople && html`<p class="quiet">What people wrote, and the words in which it ended, may hold personal data: they are not shown.</p>`}`;
}

function change(before: Timestamp | null, after: Timestamp | null, none: string): Html {
  const say = (timestamp: Timestamp | null) => (timestamp === null ? none : momentOf(timestamp));
  return before === after
    ? html`${say(after)}`
    : html`${say(before)} <span aria-hidden="true">→</span><span class="hidden">, then</span> ${say(after)}`;
}

function attemptsTable(attempts: readonly Attempt[], line: LedgerDetails, mayReadPeople: boolean): Html {
  if (attempts.length === 0) {
    return html`<p>${wasTried(line) ? 'What was sent for it is no longer kept.' : 'Nothing was sent for it.'}</p>`;
  }
  return table('Requests to the program, newest first', attempts, [
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

/** States that a request may be in without anything having been sent for it. */
const UNTRIED: readonly LedgerDetails['state'][] = ['pending', 'superseded', 'cancelled'];

function wasTried({ state, attempts, is_read }: LedgerDetails): boolean {
  return is_read || attempts > 0 || !UNTRIED.includes(state);
}

function describeError(code: string): Html {
  return html`<code>${code}</code> <span class="quiet">${ERROR_WORDS[code] ?? null}</span>`;
}
