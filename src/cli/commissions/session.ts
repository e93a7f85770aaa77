// What the commands of `commissions` open before they work: the database, the program, and the user's file.

import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Pool } from 'pg';
import type { ApiClient } from '../../api/client.ts';
import type { Priority } from '../../budget/waits.ts';
import { drainConcurrency } from '../../commissions/writer/drain-concurrency.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import type { Config } from '../../config/config.ts';
import type { PersonalDataSettings } from '../../config/personal-data.ts';
import { checkSchema } from '../../db/check-schema.ts';
import type { Database } from '../../db/database.ts';
import { errorCode } from '../../describe-error.ts';
import { ConfigError } from '../../errors.ts';
import { calmLevel, type Logger, makeLogger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import { canDrawStatusLine } from '../../terminal.ts';
import { type BudgetWaitNote, makeBudgetWaitNote } from '../budget-wait.ts';
import type { Cli } from '../cli.ts';
import { readCliConfig, readCliProgramConfig } from '../configuration.ts';
import { refuseDemoMirror } from '../demo/mark.ts';
import type { Lifetime } from '../lifetime.ts';
import { openDatabase, type Stopping } from '../open-database.ts';
import { openTreatment } from '../personal-data.ts';
import { makeProgramClient } from '../program-client.ts';
import { openTracing } from '../tracing.ts';

export interface PaymentLedgerSession {
  readonly pool: Pool;
  readonly db: Database;
  readonly mirrorSchema: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** How the program counts. */
  readonly amountUnit: AmountUnit;
  readonly personalDataSettings: PersonalDataSettings;
}

export interface ProgramSession extends PaymentLedgerSession {
  /** For what changes the program: its requests go first. */
  readonly api: ApiClient;
  /** For what only reads, and no payment waits for. */
  readonly reader: ApiClient;
  readonly concurrency: number;
  /** What its requests wait for. */
  readonly budgetWait: BudgetWaitNote;
  readonly treatment: Treatment;
}

/** What a command opens that asks for updates: the program only where it waits for them, or only looks. */
export interface RequestSession {
  readonly ledger: PaymentLedgerSession;
  readonly program: ProgramSession | null;
}

/** Returns it. Opened before anything is queued: whoever wants to wait must be able to. Closed with the lifetime. */
export async function openForRequests(
  cli: Cli,
  lifetime: Lifetime,
  { wait, dryRun }: { readonly wait?: true; readonly dryRun?: true },
): Promise<RequestSession> {
  const program = wait === true || dryRun === true ? await openProgram(cli, lifetime) : null;
  return { program, ledger: program ?? (await openPaymentLedger(cli, lifetime)) };
}

/** Returns the database alone, with the schema up to date. Closed with the lifetime. */
export async function openPaymentLedger(
  cli: Cli,
  lifetime: Lifetime,
  stopping?: Stopping,
): Promise<PaymentLedgerSession> {
  return open(lifetime, readCliConfig(cli), stopping);
}

/** Returns the database and the program. Closed with the lifetime. */
export async function openProgram(cli: Cli, lifetime: Lifetime): Promise<ProgramSession> {
  const { config, program } = readCliProgramConfig(cli);
  const session = await open(lifetime, config);
  await openTracing({ log: session.log, lifetime }, config);
  await refuseDemoMirror(session.pool, config.mirrorSchema, program.url);
  const treatment = await openTreatment(session.db, config.personalData);
  const { rateLimit, timeoutMs } = config.api;
  const { db, log } = session;
  const budgetWait = makeBudgetWaitNote();
  const client = (priority: Priority) =>
    makeProgramClient(
      { db, log, lifetime, onWait: budgetWait.note },
      { ...program, timeoutMs, rateLimit, priority },
    );
  return {
    ...session,
    api: client('payments'),
    reader: client('reads'),
    concurrency: drainConcurrency(rateLimit),
    budgetWait,
    treatment,
  };
}

async function open(lifetime: Lifetime, config: Config, stopping?: Stopping): Promise<PaymentLedgerSession> {
  const log = makeLogger(canDrawStatusLine() ? calmLevel(config.logLevel) : config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'commissions', stopping);
  await checkSchema(pool, { schema: config.mirrorSchema });
  const { mirrorSchema, amountUnit, personalData: personalDataSettings } = config;
  return { pool, db, mirrorSchema, log, signal: lifetime.signal, amountUnit, personalDataSettings };
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'this user may not read it',
};

/**
 * Returns the bytes of the file, or of standard input for `-`.
 *
 * Throws: ConfigError where it cannot be read; the signal's reason when aborted while somebody is waited for.
 */
export async function readInput(path: string, signal: AbortSignal): Promise<Uint8Array> {
  if (path === '-') {
    return await buffer(addAbortSignal(signal, process.stdin)).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error;
    });
  }
  try {
    return await readFile(path);
  } catch (error) {
    const code = errorCode(error);
    throw new ConfigError([`cannot read ${path}: ${UNREADABLE[code] ?? (code || 'unreadable')}`]);
  }
}
