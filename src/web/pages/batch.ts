// One batch of the payment ledger: its sums, and every request in it.

import { type BatchRef, findBatch } from '../../reports/read-batches.ts';
import { readCurrencies } from '../../reports/read-payment-sums.ts';
import { searchLedger } from '../../reports/search-ledger.ts';
import { html } from '../html.ts';
import type { Page, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { ledgerTable, sumsTable } from '../payment-words.ts';
import { readId, readText, withQuery } from '../query.ts';
import { section } from '../section.ts';
import { notThere } from './not-there.ts';

/** By its name; or by a request in it (/payments/batches/of?request=12), for whoever may not read the name. */
export const batchPage: Page = {
  path: '/payments/batches/:id',
  label: null,
  async read(deps, request) {
    const { href, query, params, mayReadPeople } = request;
    const ref = refOf(request);
    const batch = ref === null ? undefined : await findBatch(deps, ref);
    if (ref === null || batch === undefined) {
      const why = mayReadPeople
        ? ''
        : ' Batches are found by their names only where personal data are shown.';
      return notThere(`The payment ledger has no such batch.${why}`, {
        href: href('/payments'),
        label: 'All batches',
      });
    }
    const before = readId(query['before']);
    const own = { request: 'name' in ref ? null : ref.ofRequest };
    const path = `/payments/batches/${encodeURIComponent(params['id'] ?? '')}`;
    const sums = await readCurrencies(deps, ref);
    const any = { commission: null, affiliate: null, state: null, requestedBy: null, person: null };
    const lines = await searchLedger(deps, { ...any, batch: ref }, { before, isFull: mayReadPeople });
    const title =
      batch === null
        ? 'Single requests, in no batch'
        : mayReadPeople
          ? `Batch ${batch}`
          : `The batch of request ${own.request}`;
    return {
      title,
      body: html`<h1>${title}</h1>
${section({
  id: 'sums',
  title: 'Sums by currency',
  figure: sums,
  body: sumsTable(sums.rows, deps.amountUnit),
})}
${section({
  id: 'requests',
  title: before === null ? 'Requests' : `Requests, before ${before}`,
  figure: lines,
  body: html`${
    lines.rows.length === 0 ? html`<p>No more.</p>` : ledgerTable(lines.rows, request, deps.amountUnit)
  }
${pager({
  label: 'the batch',
  first: before === null ? null : href(withQuery(path, own)),
  next: lines.next === null ? null : href(withQuery(path, { ...own, before: lines.next })),
})}`,
})}`,
    };
  },
};

// The names are what people wrote: whoever may not read them may not try them either.
function refOf({ params, query, mayReadPeople }: PageRequest): BatchRef | null {
  const ofRequest = readId(query['request']);
  if (params['id'] === 'of' && ofRequest !== null) return { ofRequest };
  const name = readText(params['id']);
  return mayReadPeople && name !== null ? { name } : null;
}
