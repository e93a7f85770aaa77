// The shape of one permission to send one request. The budget grants it; the client is handed a function for it.

/** A UTC instant as ISO 8601 text with microseconds, read from the clock of the mirror's database. */
export type Instant = string;

export interface Slot {
  /** When the slot was granted: no answer to its request can know of anything that happened before this moment. */
  readonly grantedAt: Instant;
  /**
   * Gives the slot back and tells the budget what the answer's headers said of the account's limit; resolves to
   * the moment of the answer. Must be called exactly once, whatever became of the request.
   */
  release(limits: AnsweredLimits | null): Promise<Instant>;
}

/** What an answer said of the account's budget. Source: seen in the wild (`RateLimit-*`, `Retry-After`). */
export interface AnsweredLimits {
  /** True on 429. */
  readonly throttled: boolean;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** How long the headers ask to wait; null where they name nothing. */
  readonly resetMs: number | null;
}

export type TakeSlot = (signal?: AbortSignal) => Promise<Slot>;
