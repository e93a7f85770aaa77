// One payout of the affiliate program: its commissions, and the requests to pay it.

import { formatCount } from '../../contract/format.ts';
import type { MoneyFormat } from '../../contract/money.ts';
import {
  type PayoutCommission,
  type PayoutDetails,
  readPayout,
  readPayoutCommissions,
} from '../../reports/read-payouts.ts';
import { ANY_REQUEST, searchLedger } from '../../reports/search-ledger.ts';
import { momentOf, momentOrNothing, moneyOf, NOTHING, orNothing } from '../cells.ts';
import { type Html, html, type Part } from '../html.ts';
import { pager } from '../pager.ts';
import { describeAffiliate, ledgerTable, payoutPath } from '../payment-words.ts';
import { readId, readText } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { column, numbers, table } from '../table.ts';
import { notThere, type View, type ViewRequest } from '../view.ts';

export const payoutView: View = {
  path: '/payments/payouts/:id',
  label: null,
  async read(deps, request) {
    const { href, query, mayReadPeople: isFull } = request;
    const id = readText(request.params['id'])?.toLowerCase() ?? '';
    const [before, after] = [readId(query['before']), readText(query['after'])];
    const payout = await readPayout(deps, id, { isFull });
    const requests = await searchLedger(deps, { ...ANY_REQUEST, commission: id }, { before, isFull });
    const [found] = payout.rows;
    // A payout that the API never had may have been asked for.
    if (found === undefined && requests.rows.every(({ payout_id }) => payout_id !== id)) {
      return notThere(`The mirror has no payout ${id}.`, { href: href('/payments'), label: 'Payments' });
    }
    const commissions = await readPayoutCommissions(deps, id, after);
    const path = payoutPath(id);
    return {
      title: `Payout ${id}`,
      body: html`<h1>Payout ${id}</h1>
${section({
  id: 'payout',
  title: 'Payout',
  figure: payout,
  body:
    found === undefined
      ? html`<p>The mirror does not have this payout.</p>`
      : describePayout(found, request, deps.money),
})}
${section({
  id: 'commissions',
  title: 'Commissions',
  figure: commissions,
  body: html`${
    commissions.rows.length === 0
      ? html`<p>The mirror has no ${after !== null && 'further '}commission in this payout.</p>`
      : commissionsTable(commissions.rows, request, deps.money)
  }
${pager(request, { label: 'commissions', path, cursor: 'after', at: after, next: commissions.next, anchor: '#commissions', more: 'More' })}`,
})}
${section({
  id: 'requests',
  title: 'Requests to pay it',
  figure: requests,
  body: html`${
    requests.rows.length === 0
      ? html`<p>${before === null ? 'Its payment was not asked for.' : 'No more.'}</p>`
      : ledgerTable(requests.rows, request, deps.money)
  }
${pager(request, { label: 'requests', path, at: before, next: requests.next, anchor: '#requests' })}`,
})}`,
    };
  },
};

function describePayout(
  payout: PayoutDetails,
  { href, mayReadPeople }: ViewRequest,
  money: MoneyFormat,
): Html {
  const facts: readonly (readonly [string, Part])[] = [
    ['state', stateMark(payout.state)],
    ['amount', money.format(payout.amount, payout.currency)],
    ['affiliate', describeAffiliate(payout, href)],
    ['commissions', formatCount(payout.commissions)],
    ['made', momentOrNothing(payout.created_at)],
    ['paid', momentOrNothing(payout.paid_at)],
    ...(payout.deleted_at === null ? [] : [['gone from the API', momentOf(payout.deleted_at)] as const]),
    ...(mayReadPeople
      ? [['email of the affiliate', orNothing(payout.affiliate_email ?? null)] as const]
      : []),
  ];
  return html`<dl class="facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

function commissionsTable(
  commissions: readonly PayoutCommission[],
  { href }: ViewRequest,
  money: MoneyFormat,
): Html {
  return table('Commissions that the payout lists', commissions, [
    column('commission', ({ commission_id }) => html`<code>${commission_id}</code>`),
    column('state', ({ state }) => (state === null ? NOTHING : stateMark(state))),
    numbers('amount', ({ amount, currency }) => moneyOf(amount, currency, money)),
    column('payable from', ({ due_at }) => momentOrNothing(due_at)),
    column('paid', ({ paid_at }) => momentOrNothing(paid_at)),
    column('request that waits', ({ waiting_request: waiting }) =>
      waiting === null ? NOTHING : html`<a href="${href(`/payments/${waiting}`)}">${waiting}</a>`,
    ),
  ]);
}
