// What the commands of `commissions` open before they work: the database, and the program where they need it.

import type { Pool } from 'pg';
import type { ApiClient } from '../api/client.ts';
import type { Priority } from '../budget/taken-permit.ts';
import { drainConcurrency } from '../commissions/drain-updates.ts';
import { type Config, readConfig, readProgramConfig } from '../config/config.ts';
import { checkSchema } from '../db/check-schema.ts';
import type { Database } from '../db/database.ts';
import { calmLevel, type Logger, makeLogger } from '../log.ts';
import type { Cli } from './cli.ts';
import { refuseDemoMirror } from './demo-mark.ts';
import type { Lifetime } from './lifetime.ts';
import { openDatabase } from './open-database.ts';
import { makeProgramClient } from './program-client.ts';

export interface LedgerSession {
  readonly pool: Pool;
  readonly db: Database;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface ProgramSession extends LedgerSession {
  /** For what changes the program: its requests go first. */
  readonly api: ApiClient;
  /** For what only reads, and no payment waits for. */
  readonly reader: ApiClient;
  readonly concurrency: number;
}

/** Opens what a command turns out to need. */
export interface Openers {
  ledger(): Promise<LedgerSession>;
  program(): Promise<ProgramSession>;
}

/** Returns the openers for one command; each opens once, and what they open is closed with the lifetime. */
export function makeOpeners(cli: Cli, lifetime: Lifetime): Openers {
  let ledger: Promise<LedgerSession> | undefined;
  let program: Promise<ProgramSession> | undefined;
  return {
    ledger: () => {
      ledger ??= openLedger(cli, lifetime);
      return ledger;
    },
    program: () => {
      program ??= openProgram(cli, lifetime);
      return program;
    },
  };
}

/** Returns the database alone, with the schema up to date. Closed with the lifetime. */
export async function openLedger(cli: Cli, lifetime: Lifetime): Promise<LedgerSession> {
  return open(lifetime, readConfig(cli.environment));
}

/** Returns the database and the program. Closed with the lifetime. */
export async function openProgram(cli: Cli, lifetime: Lifetime): Promise<ProgramSession> {
  const { config, program } = readProgramConfig(cli.environment);
  const session = await open(lifetime, config);
  await refuseDemoMirror(session.pool, config.mirrorSchema, program.url);
  const { rateLimit, timeoutMs } = config.api;
  const { db, log } = session;
  const client = (priority: Priority) =>
    makeProgramClient({ db, log, lifetime }, { ...program, timeoutMs, rateLimit, priority });
  return {
    ...session,
    api: client('payments'),
    reader: client('reads'),
    concurrency: drainConcurrency(rateLimit),
  };
}

async function open(lifetime: Lifetime, config: Config): Promise<LedgerSession> {
  const hasBar = process.stderr.isTTY === true;
  const log = makeLogger(hasBar ? calmLevel(config.logLevel) : config.logLevel);
  const { pool, db } = await openDatabase({ log, lifetime }, config, 'commissions');
  await checkSchema(pool, { schema: config.mirrorSchema });
  return { pool, db, log, signal: lifetime.signal };
}
