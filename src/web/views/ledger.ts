// Searches the payment ledger by commission, affiliate and state; by batch and people only if the reader may see these.

import { type LedgerFilter, searchLedger } from '../../reports/search-ledger.ts';
import { type Html, html } from '../html.ts';
import { pager } from '../pager.ts';
import { ledgerTable, STATE_WORDS } from '../payment-words.ts';
import { readChoice, readId, readText } from '../query.ts';
import { section } from '../section.ts';
import type { View, ViewRequest } from '../view.ts';

type State = NonNullable<LedgerFilter['state']>;

const PATH = '/payments/ledger';
const STATES = Object.keys(STATE_WORDS) as State[];

interface Field {
  readonly name: string;
  readonly label: string;
}

const FIELDS: readonly Field[] = [
  { name: 'commission', label: 'commission or payout (identifier)' },
  { name: 'affiliate', label: 'affiliate (identifier)' },
];
/** They may hold personal data. */
const PEOPLE_FIELDS: readonly Field[] = [
  { name: 'batch', label: 'batch (whole name)' },
  { name: 'requested_by', label: 'asked by (whole name)' },
  { name: 'person', label: 'affiliate (part of name or email)' },
];

export const ledgerView: View = {
  path: PATH,
  label: null,
  async read(deps, request) {
    const { query, mayReadPeople } = request;
    const fields = mayReadPeople ? [...FIELDS, ...PEOPLE_FIELDS] : FIELDS;
    const asked = Object.fromEntries(fields.map(({ name }) => [name, readText(query[name])]));
    const state = readChoice(query['state'], STATES);
    const before = readId(query['before']);
    const filter: LedgerFilter = {
      commission: asked['commission']?.toLowerCase() ?? null,
      affiliate: asked['affiliate']?.toLowerCase() ?? null,
      state,
      batch: asked['batch'] ?? null,
      requestedBy: asked['requested_by'] ?? null,
      person: asked['person'] ?? null,
      batchOf: null,
    };
    const isFiltered = Object.values(filter).some((value) => value !== null);
    const figure = await searchLedger(deps, filter, { before, isFull: mayReadPeople });
    const { rows, next } = figure;
    const chosen = { ...asked, state };
    return {
      title: 'Payment ledger',
      body: html`<h1>Payment ledger</h1>
${searchForm(request, fields, chosen)}
${describeLimits(request)}
${section({
  id: 'requests',
  title: before === null ? (isFiltered ? 'Matching requests' : 'All requests') : `Requests, before ${before}`,
  figure,
  body: html`${
    rows.length > 0
      ? ledgerTable(rows, request, deps.money)
      : html`<p>${isFiltered ? 'No request matches.' : before === null ? 'Nothing was asked for yet.' : 'No more.'}</p>`
  }
${pager(request, { label: 'the payment ledger', path: PATH, query: chosen, at: before, next })}`,
})}`,
    };
  },
};

function searchForm(
  { href }: ViewRequest,
  fields: readonly Field[],
  asked: Readonly<Record<string, string | null>>,
): Html {
  return html`<form method="get" action="${href(PATH)}" role="search" aria-label="Payment ledger">
${fields.map(
  ({ name, label }) =>
    html`<label>${label}<input name="${name}" value="${asked[name] ?? ''}" maxlength="300" autocomplete="off" spellcheck="false"></label>\n`,
)}
<label>state<select name="state"><option value="">any state</option>${STATES.map(
    (state) =>
      html`<option value="${state}"${state === asked['state'] && html` selected`}>${state.replaceAll('_', ' ')}</option>`,
  )}</select></label>
<button>Search</button>
</form>`;
}

function describeLimits({ query, mayReadPeople }: ViewRequest): Html | null {
  if (mayReadPeople) return null;
  const isIgnored = PEOPLE_FIELDS.some(({ name }) => readText(query[name]) !== null);
  return html`<p class="quiet">${isIgnored && 'A part of the search was left out. '}Searching by batch, by requester and by the affiliate's name or address is possible if personal data are shown.</p>`;
}
