// The client under test, with everything about it recorded: log lines, events and permits. Waits take no time.

import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type ApiClient, type ApiClientOptions, makeApiClient } from '../../src/api/client.ts';
import type { TakePermit } from '../../src/api/permit.ts';
import type { RequestEvent } from '../../src/api/request-event.ts';
import { makeUnlimitedPermits, type UnlimitedPermits } from '../support/unlimited-permits.ts';

export const SECRET = 'sk_live_"Zo&3/+<secret>';

export interface RecordedClient {
  readonly api: ApiClient;
  readonly permits: UnlimitedPermits;
  readonly events: readonly RequestEvent[];
  /** Every log line, as it would be written. */
  readonly lines: readonly string[];
  /** How many waits for another attempt the log shows. */
  readonly waits: () => number;
}

/** Returns a client that is closed when the test ends, and whose waits between attempts take no time. */
export function makeClient(
  options: Partial<ApiClientOptions> & Pick<ApiClientOptions, 'url'>,
  takePermit?: TakePermit,
): RecordedClient {
  const permits = makeUnlimitedPermits();
  const events: RequestEvent[] = [];
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const api = makeApiClient(
    { takePermit: takePermit ?? permits.takePermit, log, onRequest: (event) => events.push(event) },
    {
      secret: SECRET,
      timeoutMs: 5000,
      ...options,
      attempts: { firstWaitMs: 0, ...options.attempts },
    },
  );
  onTestFinished(() => api.close());
  const waits = () => lines.filter((line) => JSON.parse(line).msg === 'api.request_retried').length;
  return { api, permits, events, lines, waits };
}

/** Returns the error that the call throws; fails where it throws none. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
