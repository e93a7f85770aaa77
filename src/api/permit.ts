// The type of a permit: the right to send one request. The budget grants it; the client is passed a function for it.

import type { Timestamp } from '../contract/timestamp.ts';

/** To be returned exactly once, with one of its last two functions. */
export interface Permit {
  /** When it was granted: no answer to its request can know of anything that happened before this moment. */
  readonly grantedAt: Timestamp;
  /**
   * Returns whether a request may be sent with it now. To be called immediately before the bytes are sent: a process
   * that was stopped meanwhile would otherwise send a request that no longer counts.
   */
  isUsable(): boolean;
  /**
   * Returns the permit after its request, however that ended, and passes on what the answer's headers said of the
   * account's limit (null where no answer came: the request may still be on its way). Resolves to the time of the
   * answer.
   */
  returnAnswered(limits: AnsweredLimits | null): Promise<Timestamp>;
  /** Returns the permit where nothing was sent with it: it no longer counts. */
  returnUnused(): Promise<void>;
}

/** What an answer said of the account's budget. Source: contract, Rate limit. */
export interface AnsweredLimits {
  /** True on 429. */
  readonly throttled: boolean;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** How long the headers ask to wait; null where they name nothing. */
  readonly resetMs: number | null;
}

/** `timeoutMs` is the longest that the request may take: it may be counted until then, also where it is given up. */
export type TakePermit = (signal?: AbortSignal, timeoutMs?: number) => Promise<Permit>;
