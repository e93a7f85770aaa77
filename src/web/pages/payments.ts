// The payment ledger as a whole: requests by state and why, sums by currency, what was sent lately, and the batches.

import { counted, formatCount } from '../../contract/format.ts';
import { readBatchLog } from '../../reports/read-batch-log.ts';
import {
  type OldestPending,
  readCurrencies,
  readDayOfAttempts,
  readOldestPending,
  readReasons,
  readStates,
} from '../../reports/read-payment-sums.ts';
import { asOf, momentOrNothing, orNothing, tookOf } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { Page, PageDeps, PageRequest } from '../page.ts';
import { pager } from '../pager.ts';
import { batchPath, describeStates, long, STATE_WORDS, sumsTable } from '../payment-words.ts';
import { readId, withQuery } from '../query.ts';
import { section } from '../section.ts';
import { stateMark } from '../state-mark.ts';
import { table } from '../table.ts';
import { durationOf, momentOf } from '../words.ts';

export const paymentsPage: Page = {
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
${await sumsSection(deps)}
${await attemptsSection(deps)}`
}
${await batchesSection(deps, request, before)}`,
    };
  },
};

const NOTHING_ASKED = html`<p>Nothing was asked for yet. Finance asks with <code class="run">affiliate-mirror commissions apply FILE</code>.</p>`;

async function statesSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const { rows, sql, asOf: moment } = await readStates(deps);
  return section({
    id: 'states',
    title: 'Requests by state',
    sql,
    body:
      rows.length === 0
        ? NOTHING_ASKED
        : html`${table({
            caption: 'How many requests are in each state',
            columns: [
              { label: 'state' },
              { label: 'requests', isNumber: true },
              { label: 'the first asked' },
              { label: 'the last ended' },
              { label: 'meaning' },
            ],
            rows: rows.map(({ state, requests, oldest_requested_at, last_finished_at }) => [
              html`<a href="${href(withQuery('/payments/ledger', { state }))}">${stateMark(state)}</a>`,
              formatCount(requests),
              momentOf(oldest_requested_at),
              momentOrNothing(last_finished_at),
              long(STATE_WORDS[state]),
            ]),
          })}
${asOf(moment)}`,
  });
}

async function oldestSection(deps: PageDeps, { href }: PageRequest): Promise<Html> {
  const { rows, sql } = await readOldestPending(deps);
  const [oldest] = rows;
  return section({
    id: 'oldest',
    title: 'What waits longest',
    sql,
    body:
      oldest === undefined
        ? html`<p>Nothing waits.</p>`
        : html`<p><a href="${href(`/payments/${oldest.request}`)}">Request ${oldest.request}</a> for the commission <code>${oldest.commission_id}</code> waits for ${durationOf(oldest.age_seconds)}, since ${momentOf(oldest.requested_at)}. ${describeTries(oldest)}${oldest.next_attempt_at !== null && html`, and is not tried before ${momentOf(oldest.next_attempt_at)}`}.</p>`,
  });
}

function describeTries({ attempts, has_failed }: OldestPending): string {
  if (attempts > 0) return `It was tried ${counted(attempts, 'time')} without success`;
  return has_failed ? 'It was tried without success' : 'It was not tried yet';
}

async function reasonsSection(deps: PageDeps): Promise<Html> {
  const { rows, sql, asOf: moment } = await readReasons(deps);
  return section({
    id: 'reasons',
    title: 'Why requests wait, or were not carried out',
    sql,
    body:
      rows.length === 0
        ? html`<p>Every request was carried out.</p>`
        : html`${table({
            caption: 'The most frequent reasons',
            columns: [{ label: 'state' }, { label: 'reason' }, { label: 'requests', isNumber: true }],
            rows: rows.map(({ state, outcome, requests }) => [
              stateMark(state),
              long(outcome),
              formatCount(requests),
            ]),
          })}
${asOf(moment)}`,
  });
}

async function sumsSection(deps: PageDeps): Promise<Html> {
  const { rows, sql, asOf: moment } = await readCurrencies(deps, null);
  return section({
    id: 'sums',
    title: 'Sums by currency',
    sql,
    body: html`${sumsTable(rows, deps.amountUnit)}${asOf(moment)}`,
  });
}

async function attemptsSection(deps: PageDeps): Promise<Html> {
  const { rows, sql, asOf: moment } = await readDayOfAttempts(deps);
  return section({
    id: 'attempts',
    title: 'Sent for payments within a day',
    sql,
    body:
      rows.length === 0
        ? html`<p>Nothing was sent within a day.</p>`
        : html`${table({
            caption: 'Requests to the program within a day, by how they ended',
            columns: [
              { label: 'what' },
              { label: 'answer' },
              { label: 'error' },
              { label: 'sent', isNumber: true },
              { label: 'half took less than', isNumber: true },
              { label: 'the last at' },
            ],
            rows: rows.map(({ method, status, error_code, attempts, median_ms, last_sent_at }) => [
              method === 'PUT' ? 'change (PUT)' : 'reading (GET)',
              status === null ? 'none came' : String(status),
              orNothing(error_code),
              formatCount(attempts),
              median_ms === null ? orNothing(null) : tookOf(median_ms / 1000),
              momentOf(last_sent_at),
            ]),
          })}
${asOf(moment)}`,
  });
}

async function batchesSection(
  deps: PageDeps,
  { href, mayReadPeople }: PageRequest,
  before: number | null,
): Promise<Html> {
  const { rows, sql, next } = await readBatchLog(deps, { before, isFull: mayReadPeople });
  return section({
    id: 'batches',
    title: before === null ? 'Batches' : 'Earlier batches',
    sql,
    body: html`${
      rows.length === 0
        ? before === null
          ? NOTHING_ASKED
          : html`<p>There are no earlier ones.</p>`
        : table({
            caption: 'Batches, newest first',
            columns: [
              { label: 'batch' },
              { label: 'requests', isNumber: true },
              { label: 'states' },
              { label: 'asked' },
              { label: 'ended' },
              ...(mayReadPeople ? [{ label: 'asked by' }] : []),
            ],
            rows: rows.map((batch) => [
              html`<span class="long"><a href="${href(batchPath(batch))}">${
                batch.batch === undefined
                  ? `of request ${batch.newest_request}`
                  : (batch.batch ?? 'single requests, in no batch')
              }</a></span>`,
              formatCount(batch.requests),
              describeStates(batch.states),
              momentOf(batch.requested_at),
              momentOrNothing(batch.finished_at),
              ...(mayReadPeople ? [orNothing(batch.requested_by ?? null)] : []),
            ]),
          })
    }
${!mayReadPeople && rows.length > 0 && html`<p class="quiet">The names of batches are what people wrote, and may hold personal data: they are not shown.</p>`}
${pager({
  label: 'batches',
  first: before === null ? null : href('/payments'),
  next: next === null ? null : href(withQuery('/payments', { before: next })),
})}`,
  });
}
