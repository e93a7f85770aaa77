// The dry run: what would happen to each request if it were applied now. Reads the program and changes nothing.

import type { ApiClient } from '../api/client.ts';
import type { AmountUnit } from '../config/amount-unit.ts';
import { ApiRejected } from '../errors.ts';
import { describeChange, judgeUpdate, valuesOf } from './judge-update.ts';
import { mapInOrder } from './map-in-order.ts';
import type { CommissionValues, EndState, UpdateRequest } from './update-request.ts';

export interface PreviewedUpdate {
  readonly request: UpdateRequest;
  /** `change`: a PUT would be sent. Otherwise the state in which the request would end without one. */
  readonly would: 'change' | EndState;
  readonly outcome: string;
  readonly note: string | null;
  /** What the program has; null where it has no such commission. */
  readonly live: CommissionValues | null;
}

/**
 * Yields what would become of each request, in order.
 *
 * Throws: the client's errors other than a refusal of the one commission; the signal's reason when aborted.
 */
export function previewUpdates(
  deps: { client: ApiClient },
  requests: readonly UpdateRequest[],
  {
    concurrency,
    signal,
    amountUnit = 'minor',
  }: { concurrency: number; signal: AbortSignal; amountUnit?: AmountUnit },
): AsyncGenerator<PreviewedUpdate> {
  return mapInOrder(requests, concurrency, async (request) => {
    const read = await readCommission(deps.client, request.commission_id, signal);
    if (read === null) {
      return { request, would: 'not_found', outcome: NOT_FOUND, note: null, live: null };
    }
    const verdict = judgeUpdate(request, read, false, amountUnit);
    const live = valuesOf(read);
    if (verdict.kind === 'end') {
      return { request, would: verdict.state, outcome: verdict.outcome, note: verdict.note, live };
    }
    return { request, would: 'change', outcome: describeChange(request, read), note: verdict.note, live };
  });
}

const NOT_FOUND = 'the program has no such commission';

/** Returns the commission; null where the program has none of that id. Throws: the client's other errors. */
export async function readCommission(client: ApiClient, id: string, signal: AbortSignal) {
  try {
    return (await client.getCommission(id, { signal })).commission;
  } catch (error) {
    if (error instanceof ApiRejected && error.status === 404) return null;
    throw error;
  }
}
