// The program's client for the writer, which tells for every call which HTTP requests it took.
// Knows how the client reports its attempts; refuses to know why a call is made.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestEvent } from '../api/attempt-request.ts';
import type { ApiClient } from '../api/client.ts';

/** One HTTP request that was made, with the moment by this process's `performance.now()`. */
export interface SentRequest extends RequestEvent {
  readonly endedAtMs: number;
}

export interface RecordedApi {
  readonly client: ApiClient;
  /** Gives back what the call gives back; `sent` grows with every HTTP request that the call makes. */
  record<T>(sent: SentRequest[], call: (client: ApiClient) => Promise<T>): Promise<T>;
}

/**
 * Gives back the client that `build` makes, with its requests told apart. Close it by `client.close()`.
 * The call's own asynchronous context says whose request it is, so any number of calls may run side by side.
 */
export function makeRecordedApi(build: (onRequest: (event: RequestEvent) => void) => ApiClient): RecordedApi {
  const current = new AsyncLocalStorage<SentRequest[]>();
  const client = build((event) => {
    current.getStore()?.push({ ...event, endedAtMs: performance.now() });
  });
  return { client, record: (sent, call) => current.run(sent, () => call(client)) };
}
