// Everything of one affiliate program as one value: its configuration, its database and, if the API is asked, its
// clients and the treatment of its personal data (connect-program.ts). Opened within a lifetime, and closed with it.

import { calmLevel, type Logger, makeLogger } from '../base/log.ts';
import { canDrawStatusLine } from '../base/terminal.ts';
import type { Config, ProcessConfig, ProgramConfig } from '../config/config.ts';
import type { Pool } from '../db/connect/shared-pool.ts';
import { type Database, makeDatabase } from '../db/database.ts';
import { checkSchema } from '../db/migrate/migrate.ts';
import type { Cli } from './cli.ts';
import { readCliConfig } from './configuration.ts';
import type { Lifetime } from './lifetime.ts';
import { type OpenDatabase, openDatabase } from './open-database.ts';

export interface Program extends ProgramConfig {
  /** The process that it is opened in. */
  readonly process: ProcessConfig;
  readonly database: OpenDatabase;
  readonly pool: Pool;
  readonly db: Database;
  readonly log: Logger;
  readonly lifetime: Lifetime;
}

export interface Opening {
  /** Left out: read from the environment. */
  readonly config?: Config;
  /** Left out: a logger of the configured level. */
  readonly log?: Logger;
  /** See openDatabase. */
  readonly endsAtOnce?: boolean;
}

/** Returns the program, whose schema may not exist yet. Throws: ConfigError; what `openDatabase` throws. */
export async function openProgram(
  cli: Cli,
  lifetime: Lifetime,
  { config = readCliConfig(cli), log = makeLogger(config.process.logLevel), endsAtOnce }: Opening = {},
): Promise<Program> {
  const database = await openDatabase({ log, lifetime }, config.process, cli.opener, { endsAtOnce });
  return makeProgram(database, { config, log: nameProgram(log, config), lifetime });
}

/** Returns the program on a database that is open. */
export function makeProgram(
  database: OpenDatabase,
  { config, log, lifetime }: { config: Config; log: Logger; lifetime: Lifetime },
): Program {
  const pool = database.shared.of(config.program.mirrorSchema);
  return {
    ...config.program,
    process: config.process,
    database,
    pool,
    db: makeDatabase(pool),
    log,
    lifetime,
  };
}

/** Returns the program, whose tables are of this version. Throws: SchemaMismatch; what `openProgram` throws. */
export async function openMirror(cli: Cli, lifetime: Lifetime, opening?: Opening): Promise<Program> {
  const program = await openProgram(cli, lifetime, opening);
  await checkSchema(program.pool, { schema: program.mirrorSchema });
  return program;
}

/** Returns the logger whose lines name the program, if it is a listed one. */
export function nameProgram(log: Logger, { program: { name } }: Config): Logger {
  return name === null ? log : log.child({ program: name });
}

/** Returns the start of a line about the program: its name if it is a listed one, else nothing. */
export function startOf({ name }: Pick<ProgramConfig, 'name'>): string {
  return name === null ? '' : `${name}: `;
}

/** Returns the logger of a command whose own output says everything on a terminal. */
export function makeTerminalLogger({ process: { logLevel } }: Config): Logger {
  return makeLogger(canDrawStatusLine() ? calmLevel(logLevel) : logLevel);
}
