// One batch of the payment ledger: its sums, and every request in it.

import { findBatch } from '../../reports/read-batches.ts';
import { readCurrencies } from '../../reports/read-payment-sums.ts';
import { ANY_REQUEST, searchLedger } from '../../reports/search-ledger.ts';
import { html } from '../html.ts';
import { pager } from '../pager.ts';
import { batchPath, ledgerTable, sumsTable } from '../payment-words.ts';
import { readId } from '../query.ts';
import { section } from '../section.ts';
import { notThere, type View } from '../view.ts';

/** By a request in it: /payments/batches/12. */
export const batchView: View = {
  path: '/payments/batches/:id',
  label: null,
  async read(deps, request) {
    const { href, query, params, mayReadPeople } = request;
    const batchOf = readId(params['id']);
    const batch = batchOf === null ? undefined : await findBatch(deps, batchOf);
    if (batchOf === null || batch === undefined) {
      const back = { href: href('/payments'), label: 'All batches' };
      return notThere('The payment ledger has no such batch.', back);
    }
    const before = readId(query['before']);
    const sums = await readCurrencies(deps, batchOf);
    const lines = await searchLedger(deps, { ...ANY_REQUEST, batchOf }, { before, isFull: mayReadPeople });
    const named = mayReadPeople ? `Batch ${batch}` : `The batch of request ${batchOf}`;
    const title = batch === null ? 'Single requests, in no batch' : named;
    return {
      title,
      body: html`<h1>${title}</h1>
${section({
  id: 'sums',
  title: 'Sums by currency',
  figure: sums,
  body: sumsTable(sums.rows, deps.money),
})}
${section({
  id: 'requests',
  title: before === null ? 'Requests' : `Requests, before ${before}`,
  figure: lines,
  body: html`${lines.rows.length === 0 ? html`<p>No more.</p>` : ledgerTable(lines.rows, request, deps.money)}
${pager(request, { label: 'the batch', path: batchPath(batchOf), at: before, next: lines.next })}`,
})}`,
    };
  },
};
