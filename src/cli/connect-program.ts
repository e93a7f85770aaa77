// Connects a program to its API: clients by priority, and the treatment of personal data. Loaded only by the commands
// that send requests: the others need no HTTP client.

import { type ApiClient, makeApiClient } from '../api/client.ts';
import type { RequestEvent } from '../api/request-event.ts';
import type { Attempts } from '../api/retry.ts';
import { makeTakePermit } from '../budget/shared-budget.ts';
import type { PermitMeter, Priority } from '../budget/waits.ts';
import type { ProgramAddress } from '../config/config.ts';
import type { Treatment } from '../decode/treatment.ts';
import { makeTreatment } from '../mirror/people/make-treatment.ts';
import { readState, refuseOtherSettings } from '../mirror/people/stored-state.ts';
import { adoptMode } from '../mirror/people/switch-mode.ts';

import { refuseDemoMirror } from './demo/mark.ts';
import { type BudgetWaitNote, makeBudgetWaitNote } from './output/progress.ts';
import type { Program } from './program.ts';
import { traceRequest } from './tracing.ts';

export interface ConnectedProgram extends Program {
  readonly treatment: Treatment;
  readonly clients: Clients;
  /** The wait of its requests, if `isWatched`. */
  readonly budgetWait: BudgetWaitNote;
}

/** `payments` go first; `probe` reads and makes each request once. */
export type Clients = Readonly<Record<'reads' | 'payments' | 'probe', ApiClient>>;

/** Counts the requests of this process. */
export interface ProgramMeter {
  countRequest(event: RequestEvent): void;
  permits(priority: Priority): PermitMeter;
}

interface Connecting {
  /** Whether a person is shown how long the requests wait. */
  readonly isWatched: boolean;
  readonly meter?: ProgramMeter;
  /** Makes or checks the tables, before they are read. */
  readonly prepare?: () => Promise<void>;
  /** Whether a mirror that has stored nothing yet takes on the configured mode of personal data. */
  readonly mayAdopt?: boolean;
  /** Makes a step again if the database was away. */
  readonly retry?: <T>(step: () => Promise<T>) => Promise<T>;
}

/**
 * Returns the program with its clients, whose requests count against the shared budget. Closed with the lifetime.
 *
 * Throws: ConfigError if the mirror is the demo's; PersonalDataMismatch.
 */
export async function connectProgram(
  program: Program,
  address: ProgramAddress,
  { isWatched, meter, prepare, mayAdopt = false, retry = (step) => step() }: Connecting,
): Promise<ConnectedProgram> {
  const { pool, db, mirrorSchema, personalData } = program;
  await retry(() => refuseDemoMirror(pool, mirrorSchema, address.url));
  await prepare?.();
  const treatment = await retry(async () => {
    if (mayAdopt) await adoptMode(db, personalData);
    refuseOtherSettings(personalData, await readState(db));
    return makeTreatment(personalData);
  });
  const { log, lifetime, rateLimit, timeoutMs } = program;
  const budgetWait = makeBudgetWaitNote();
  const make = (priority: Priority, attempts?: Partial<Attempts>) => {
    const takePermit = makeTakePermit(
      {
        db,
        log,
        ...(isWatched && { onWait: budgetWait.note }),
        ...(meter && { meter: meter.permits(priority) }),
      },
      { rateLimit, priority, requestTimeoutMs: timeoutMs },
    );
    const api = makeApiClient(
      { takePermit, log, traceRequest, ...(meter && { onRequest: meter.countRequest }) },
      { ...address, timeoutMs, ...(attempts && { attempts }) },
    );
    lifetime.onClose(() => api.close());
    return api;
  };
  const clients = { reads: make('reads'), payments: make('payments'), probe: make('reads', ONCE) };
  return { ...program, treatment, clients, budgetWait };
}

/** The attempts of a request that is not repeated. */
export const ONCE = { most: 1, mostThrottled: 1 };
