// What the commands of `commissions` open before they work: the database, and the program where they need it.

import type { Pool } from 'pg';
import { type ApiClient, makeApiClient } from '../api/client.ts';
import { makeTakePermit } from '../budget/shared-budget.ts';
import { drainConcurrency } from '../commissions/drain-updates.ts';
import { type Config, readConfig, readProgramConfig } from '../config/config.ts';
import { checkSchema } from '../db/check-schema.ts';
import type { Database } from '../db/database.ts';
import { type Logger, makeLogger } from '../log.ts';
import { calmLevel } from './calm-level.ts';
import type { Cli } from './cli.ts';
import { refuseDemoMirror } from './demo-mark.ts';
import type { Lifetime } from './lifetime.ts';
import { openDatabase } from './open-database.ts';

export interface LedgerSession {
  readonly pool: Pool;
  readonly db: Database;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface ProgramSession extends LedgerSession {
  readonly api: ApiClient;
  readonly concurrency: number;
}

/** Opens what a command turns out to need. */
export interface Openers {
  ledger(): Promise<LedgerSession>;
  program(): Promise<ProgramSession>;
}

/** Gives back the openers for one command; what they open is closed with the lifetime. */
export function makeOpeners(cli: Cli, lifetime: Lifetime): Openers {
  return { ledger: () => openLedger(cli, lifetime), program: () => openProgram(cli, lifetime) };
}

/** Gives back the database alone, with the schema up to date. Closed with the lifetime. */
export async function openLedger(cli: Cli, lifetime: Lifetime): Promise<LedgerSession> {
  return open(lifetime, readConfig(cli.environment));
}

/** Gives back the database and the program. Closed with the lifetime. */
export async function openProgram(cli: Cli, lifetime: Lifetime): Promise<ProgramSession> {
  const { config, program } = readProgramConfig(cli.environment);
  const session = await open(lifetime, config);
  await refuseDemoMirror(session.pool, config.mirrorSchema, program.url);
  const { rateLimit, timeoutMs } = config.api;
  const { db, log } = session;
  const takePermit = makeTakePermit(
    { db, log },
    { rateLimit, priority: 'payments', requestTimeoutMs: timeoutMs },
  );
  const api = makeApiClient({ takePermit, log }, { ...program, timeoutMs });
  lifetime.onClose(() => api.close());
  return { ...session, api, concurrency: drainConcurrency(rateLimit) };
}

async function open(lifetime: Lifetime, config: Config): Promise<LedgerSession> {
  const hasBar = process.stderr.isTTY === true;
  const log = makeLogger(hasBar ? calmLevel(config.logLevel) : config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'commissions');
  await checkSchema(pool, { schema: config.mirrorSchema });
  return { pool, db, log, signal: lifetime.signal };
}
