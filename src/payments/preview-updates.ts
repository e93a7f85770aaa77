// The dry run: the decision on each row or request if it were applied now. Reads from the API and changes nothing.

import type { ApiClient } from '../api/client.ts';
import { MONEY, type MoneyFormat } from '../contract/money.ts';
import type { Action } from '../contract/payment-request.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import type { Database } from '../db/database.ts';
import { readAffiliateNames } from '../reports/read-payable.ts';
import { type Answers, type AskedRow, foreseeRows } from './ask/ask-rows.ts';
import { describeEarlier } from './ask/describe-rows.ts';
import { describeChange, judgeUpdate } from './judge-update.ts';
import { makeLookUpEach, makeLookUpPayout, mapInOrder } from './look-up.ts';
import type { PayoutRequest } from './payout-request.ts';
import { describePayoutOf, type PreviewedUpdate, previewPayout } from './preview-payout.ts';
import { type UpdateRequest, valuesOf } from './update-request.ts';
import { joinNotes } from './update-words.ts';

/** A row of a dry run. `asked_before`: nothing would be asked for. */
export interface PreviewedRow {
  readonly line: number | null;
  /** Null of a payout. */
  readonly commission_id: string | null;
  readonly payout_id: string | null;
  readonly action: Action;
  readonly would: 'asked_before' | PreviewedUpdate['would'];
  readonly outcome: string;
  readonly note: string | null;
  /** The commission as it is; of a row that was asked for before, by the mirror. */
  readonly paid_at: Timestamp | null;
  readonly due_at: Timestamp | null;
  readonly amount: number | null;
  readonly currency: string | null;
  /** By the mirror. */
  readonly affiliate_name: string | null;
}

export interface PreviewOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly money?: MoneyFormat;
}

/**
 * Returns the decision on each row, with the answer that it would get. `onProgress` is called with the number of
 * commissions that were read, and of all.
 *
 * Throws: the errors of `previewUpdates`.
 */
export async function previewRows(
  deps: { client: ApiClient; db: Database },
  rows: readonly AskedRow[],
  { onProgress, ...options }: PreviewOptions & { onProgress: (read: number, total: number) => void },
): Promise<Answers & { readonly previewed: readonly PreviewedRow[] }> {
  const foreseen = await foreseeRows(deps.db, rows);
  const anew = rows.filter((_, index) => foreseen.earlier[index] === null);
  const read = new Map<AskedRow, PreviewedRow>();
  const names = await readAffiliateNames(
    deps.db,
    rows.flatMap(({ request }) => ('payout_id' in request ? [] : request.commission_id)),
  );
  const preview = (
    { line, request }: AskedRow,
    { would, outcome, note }: Pick<PreviewedRow, 'would' | 'outcome' | 'note'>,
    has:
      | (Pick<PreviewedRow, 'paid_at' | 'amount' | 'currency'> & { due_at?: Timestamp | null })
      | null
      | undefined,
  ): PreviewedRow => {
    const { paid_at = null, due_at = null, amount = null, currency = null } = has ?? {};
    const { action } = request;
    const commission_id = 'payout_id' in request ? null : request.commission_id;
    const payout_id = 'payout_id' in request ? request.payout_id : null;
    const affiliate_name = names.get(commission_id ?? '') ?? null;
    const values = { paid_at, due_at, amount, currency, affiliate_name };
    return { line, commission_id, payout_id, action, would, outcome, note, ...values };
  };
  onProgress(0, anew.length);
  const requests = anew.map(({ request }) => request);
  for await (const update of previewUpdates(deps, requests, options)) {
    const row = anew[read.size];
    if (row !== undefined) read.set(row, preview(row, update, update.live));
    onProgress(read.size, anew.length);
  }
  const previewed = rows.flatMap((row, index): PreviewedRow[] => {
    const earlier = foreseen.earlier[index] ?? null;
    if (earlier === null) return [read.get(row) ?? []].flat();
    const outcome = describeEarlier(row, earlier).says;
    return [preview(row, { would: 'asked_before', outcome, note: null }, earlier.now)];
  });
  return { ...foreseen, previewed };
}

/**
 * Yields the decision on each request, in order.
 *
 * Throws: the errors of `makeLookUpEach`; the database's errors.
 */
export async function* previewUpdates(
  { client, db }: { client: ApiClient; db: Database },
  requests: readonly (UpdateRequest | PayoutRequest)[],
  { concurrency, signal, money = MONEY.minor }: PreviewOptions,
): AsyncGenerator<PreviewedUpdate> {
  const lookUp = makeLookUpEach({ client, db }, signal);
  const lookUpPayout = makeLookUpPayout({ client, db }, signal);
  yield* mapInOrder(requests, concurrency, async (request): Promise<PreviewedUpdate> => {
    if ('payout_id' in request) return await previewPayout({ db, lookUpPayout, money }, request);
    const { commission, refusal } = await lookUp(request.commission_id);
    if (commission === null) {
      return { would: refusal.state, outcome: refusal.outcome, note: refusal.note, live: null };
    }
    const verdict = judgeUpdate(request, commission, null, money);
    const { note } = verdict;
    const live = valuesOf(commission);
    return verdict.kind === 'end'
      ? { would: verdict.state, outcome: verdict.outcome, note, live }
      : {
          would: 'change',
          outcome: describeChange(request, commission),
          note: joinNotes([note, await describePayoutOf(db, request)]),
          live,
        };
  });
}
