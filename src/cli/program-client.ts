// The program's client with its permits, as every command has it.

import { type ApiClient, type ApiClientOptions, makeApiClient } from '../api/client.ts';
import type { RequestEvent } from '../api/request-event.ts';
import { makeTakePermit } from '../budget/shared-budget.ts';
import type { BudgetWait, PermitMeter, Priority } from '../budget/waits.ts';
import type { RateLimit } from '../config/rate-limit.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import type { Lifetime } from './lifetime.ts';
import { traceRequest } from './tracing.ts';

export interface ClientDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
  /** See BudgetDeps. */
  readonly onWait?: (wait: BudgetWait) => void;
  readonly meter?: ProgramMeter;
}

/** Who counts what this process sends. */
export interface ProgramMeter {
  countRequest(event: RequestEvent): void;
  permits(priority: Priority): PermitMeter;
}

export interface ClientOptions extends ApiClientOptions {
  readonly rateLimit: RateLimit;
  readonly priority: Priority;
}

/** Returns a client whose requests count against the shared budget. It is closed with the lifetime. */
export function makeProgramClient(
  { db, log, lifetime, onWait, meter }: ClientDeps,
  { rateLimit, priority, ...options }: ClientOptions,
): ApiClient {
  const takePermit = makeTakePermit(
    {
      db,
      log,
      ...(onWait && { onWait }),
      ...(meter && { meter: meter.permits(priority) }),
    },
    { rateLimit, priority, requestTimeoutMs: options.timeoutMs },
  );
  const api = makeApiClient(
    { takePermit, log, traceRequest, ...(meter && { onRequest: meter.countRequest }) },
    options,
  );
  lifetime.onClose(() => api.close());
  return api;
}
