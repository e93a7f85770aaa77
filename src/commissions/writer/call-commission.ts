// One call for a commission, as a try makes it: its end is data, and every request that it took is kept for the payment
// ledger.

import { leavesOpen } from '../../api/answer.ts';
import type { CallOptions, ReadCommission } from '../../api/client.ts';
import { describeError } from '../../describe-error.ts';
import { AppError, WriteOutcomeUnknown } from '../../errors.ts';
import { valuesOf } from '../commission-values.ts';
import type { RecordedCall, SentRequest } from './attempt-lines.ts';

export type Called =
  | { readonly kind: 'answered'; readonly answer: ReadCommission }
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayBeApplied: boolean };

interface Call {
  readonly method: 'GET' | 'PUT';
  /** The body of a PUT. */
  readonly form: string | null;
  readonly signal: AbortSignal;
}

/**
 * Returns how the call ended that `request` makes with these options, and adds it to `calls`. A request that announces
 * a PUT adds the number of its line to `announced`.
 */
export async function callCommission(
  { method, form, signal }: Call,
  calls: RecordedCall[],
  request: (options: CallOptions, announced: number[]) => Promise<ReadCommission>,
): Promise<Called> {
  const sent: SentRequest[] = [];
  const announced: number[] = [];
  const common = { method, sent, form, announced };
  const onRequest: CallOptions['onRequest'] = (event) => {
    sent.push({ ...event, endedAtMs: performance.now(), intentId: announced.at(-1) ?? null });
  };
  try {
    const answer = await request({ signal, onRequest }, announced);
    calls.push({ ...common, error: null, received: valuesOf(answer.commission) });
    return { kind: 'answered', answer };
  } catch (error) {
    const code = error instanceof AppError ? error.code : 'ABORTED';
    calls.push({ ...common, error: { code, message: describeError(error) }, received: null });
    return { kind: 'failed', error, mayBeApplied: method === 'PUT' && isMaybeApplied(error, sent, signal) };
  }
}

// An abort leaves open what became of the request that was in flight, whatever its reason is: also an error of the
// program or of the database that another request met.
function isMaybeApplied(error: unknown, sent: readonly SentRequest[], signal: AbortSignal): boolean {
  const isAborted = signal.aborted && error === signal.reason;
  if (error instanceof AppError && !isAborted) return error instanceof WriteOutcomeUnknown;
  const last = sent.at(-1)?.status;
  return last !== undefined && (last === null || leavesOpen(last));
}
