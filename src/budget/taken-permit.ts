// The types that the files of this room share: priorities, waits, and what asking for a permit returns.

import type { Permit } from '../api/permit.ts';

/** `payments` go first: they must not wait for a walk. */
export type Priority = 'reads' | 'payments';

/** What a request may have to wait for. See the SQL function take_permit. */
export type WaitReason = 'pause' | 'window' | 'payments' | 'answer';

export interface Wait {
  readonly waitMs: number;
  readonly reason: WaitReason;
}

/** A permit, or how long to wait before asking again, and for what. */
export type TakenPermit = { readonly permit: Permit } | Wait;
