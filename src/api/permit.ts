// The type of a permit: the right to send one request. The budget grants it; the client is passed a function for it.

import type { Timestamp } from '../contract/timestamp.ts';

/** To be returned exactly once, with one of its last two functions. */
export interface Permit {
  /** When it was granted: no answer to its request can know of anything that happened before this moment. */
  readonly grantedAt: Timestamp;
  /**
   * Returns whether a request may be sent with it now. Called immediately before the bytes are sent: a process that was
   * stopped meanwhile would otherwise send a request that no longer counts.
   */
  isUsable(): boolean;
  /**
   * Returns the permit after its request, with the limits from the answer's headers (null if no answer came: the
   * request may still be on its way). Resolves to the time of the answer.
   */
  returnAnswered(limits: AnsweredLimits | null): Promise<Timestamp>;
  /** Returns the permit if nothing was sent: it no longer counts. */
  returnUnused(): Promise<void>;
}

/** The headers of an answer on the account's limit. Source: contract, Rate limit. */
export interface AnsweredLimits {
  /** True on 429. */
  readonly throttled: boolean;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** The wait that the headers ask for; null if they name none. */
  readonly resetMs: number | null;
}

/** `timeoutMs` bounds the request: it may count until then, even if the caller gives up. */
export type TakePermit = (signal?: AbortSignal, timeoutMs?: number) => Promise<Permit>;
