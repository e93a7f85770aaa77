// The dry run: what would happen to each request if it were applied now. Reads the program and changes nothing.

import type { ApiClient } from '../api/client.ts';
import type { AmountUnit } from '../config/amount-unit.ts';
import type { EndState } from '../contract/payment-request.ts';
import type { Database } from '../db/database.ts';
import { type CommissionValues, valuesOf } from './commission-values.ts';
import { describeChange, judgeUpdate } from './judge-update.ts';
import { makeLookUpEach } from './look-up-each.ts';
import { mapInOrder } from './map-in-order.ts';
import type { UpdateRequest } from './update-request.ts';

export interface PreviewedUpdate {
  readonly request: UpdateRequest;
  /** `change`: a PUT would be sent. Otherwise the state in which the request would end without one. */
  readonly would: 'change' | EndState;
  readonly outcome: string;
  readonly note: string | null;
  /** What the program has; null where it has no such commission, or does not show it. */
  readonly live: CommissionValues | null;
}

/**
 * Yields what would become of each request, in order.
 *
 * Throws: what `makeLookUpEach` says; the database's errors.
 */
export async function* previewUpdates(
  { client, db }: { client: ApiClient; db: Database },
  requests: readonly UpdateRequest[],
  {
    concurrency,
    signal,
    amountUnit = 'minor',
  }: { concurrency: number; signal: AbortSignal; amountUnit?: AmountUnit },
): AsyncGenerator<PreviewedUpdate> {
  const lookUp = makeLookUpEach({ client, db }, signal);
  yield* mapInOrder(requests, concurrency, async (request): Promise<PreviewedUpdate> => {
    const { commission, refusal } = await lookUp(request.commission_id);
    if (commission === null) {
      return { request, would: refusal.state, outcome: refusal.outcome, note: refusal.note, live: null };
    }
    const verdict = judgeUpdate(request, commission, null, amountUnit);
    const live = valuesOf(commission);
    if (verdict.kind === 'end') {
      return { request, would: verdict.state, outcome: verdict.outcome, note: verdict.note, live };
    }
    return {
      request,
      would: 'change',
      outcome: describeChange(request, commission),
      note: verdict.note,
      live,
    };
  });
}
