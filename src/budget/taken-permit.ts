// What asking for a permit comes to: the words that the parts of this room share.

import type { Permit } from '../api/permit.ts';

/** `payments` go first: money waits for no walk. */
export type Priority = 'reads' | 'payments';

/** What a request may have to wait for. See the function take_permit. */
export type WaitReason = 'pause' | 'window' | 'payments' | 'answer';

export interface Wait {
  readonly waitMs: number;
  readonly reason: WaitReason;
}

/** A permit, or how long to wait before asking again, and for what. */
export type TakenPermit = { readonly permit: Permit } | Wait;
