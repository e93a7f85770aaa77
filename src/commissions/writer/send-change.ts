// Sends a change of a commission, once it is announced: the announcement is written when the PUT has its permit, in the
// same statement that sees whether the claim still holds. Only the sending follows, and that asks the writer's own
// clock once more.

import { uptime } from 'node:os';
import type { ApiClient } from '../../api/client.ts';
import { type CommissionChange, commissionForm } from '../../api/request-parameters.ts';
import type { CommissionValues } from '../commission-values.ts';
import type { ClaimedUpdate } from '../update-request.ts';
import type { RecordedCall } from './attempt-lines.ts';
import { type Called, callCommission } from './call-commission.ts';
import type { Claims } from './claims.ts';
import type { UpdateRecorder } from './record-updates.ts';

export interface SendDeps {
  readonly api: Pick<ApiClient, 'putCommission'>;
  readonly recorder: Pick<UpdateRecorder, 'intend'>;
  readonly claims: Pick<Claims, 'hasTimeLeft'>;
  /** The call is added to it. */
  readonly calls: RecordedCall[];
}

export interface SendSignals {
  /** Ends what has not been announced. */
  readonly signal: AbortSignal;
  /** Ends that, too. */
  readonly sentSignal: AbortSignal;
}

export interface ReadChange {
  readonly change: CommissionChange;
  /** What was read of the commission, and until which `uptime()` a change may be sent on it. */
  readonly before: CommissionValues;
  readonly freshUntil: number;
}

/** How the call ended; or why nothing was sent: another writer has the request, or the reading has grown old. */
export type SentChange = Called | { readonly kind: 'claim_lost' } | { readonly kind: 'reading_old' };

/** What ends the call before anything is announced; never seen outside of this file. */
const CLAIM_LOST = new Error('the claim was lost');
const READING_OLD = new Error('what was read of the commission is too old');

const ONCE = { most: 1, mostThrottled: 1 };

/** Returns how the change was sent, if it was. */
export async function sendChange(
  { api, recorder, claims, calls }: SendDeps,
  update: ClaimedUpdate,
  { change, before, freshUntil }: ReadChange,
  { signal, sentSignal }: SendSignals,
): Promise<SentChange> {
  // No permit is waited for in vain.
  if (uptime() > freshUntil) return { kind: 'reading_old' };
  const form = commissionForm(change);
  // Until the PUT is announced, it is given up with all the rest.
  const unsent = new AbortController();
  const giveUp = () => unsent.abort(signal.reason);
  signal.addEventListener('abort', giveUp);
  let isOld = false;
  const either = AbortSignal.any([sentSignal, unsent.signal]);
  const called = await callCommission({ method: 'PUT', form, signal: either }, calls, (options, announced) =>
    api.putCommission(update.commission_id, change, {
      ...options,
      attempts: ONCE,
      async beforeSend() {
        signal.throwIfAborted();
        if (uptime() > freshUntil) throw READING_OLD;
        const intentId = await recorder.intend({ updateId: update.id, before, form });
        if (intentId === null) throw CLAIM_LOST;
        announced.push(intentId);
        signal.removeEventListener('abort', giveUp);
        return () => {
          // Announcing may have taken long.
          isOld = uptime() > freshUntil;
          return !isOld && claims.hasTimeLeft(update.id);
        };
      },
    }),
  );
  signal.removeEventListener('abort', giveUp);
  if (called.kind === 'answered') return called;
  if (called.error === CLAIM_LOST) return { kind: 'claim_lost' };
  return isOld || called.error === READING_OLD ? { kind: 'reading_old' } : called;
}
