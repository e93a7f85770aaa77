// A command: what its file declares, and what it is handed when it runs.

import type { Command } from 'commander';
import type { z } from 'zod';
import type { ProgramChoice, ProgramsTaken } from './choose-programs.ts';
import type { ExitCode } from './exit-code.ts';
import type { Lifetime } from './lifetime.ts';

/** The export `command` of a command's file. Its help follows from the options that `register` adds. */
export interface CommandFile {
  readonly register: (parent: Command, cli: Cli) => void;
  /** Left out: the command opens no database. */
  readonly connections?: Connections;
  /** Whether it takes --program, and how often. Left out: once; null: not at all. */
  readonly programs?: ProgramsTaken | null;
  /** The documents of --json, by the name of their published schema. */
  readonly documents?: Readonly<Record<string, z.ZodType>>;
}

export interface Connections {
  /** At most so many in the pool. */
  readonly pool: number;
  /** The same with PROGRAMS_FILE. Left out: as many. */
  readonly poolOfMany?: number;
  /** Those of a queue in Postgres, besides: see src/worker/queue/postgres-backend.ts. */
  readonly queue?: number;
  /** Whether everything that the command does ends in a write. */
  readonly isWriting?: true;
}

export interface Cli {
  /** For configuration.ts, by which a command reads it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Runs a command's work in a lifetime; the exit code that it returns becomes the process's. */
  readonly run: (work: (lifetime: Lifetime) => Promise<ExitCode>) => Promise<void>;
  readonly opener: Opener;
  /** For configuration.ts. */
  readonly choice: ProgramChoice;
}

/** The command that opens the database: its first word, and its connections. */
export interface Opener {
  readonly name: string;
  readonly connections: Connections;
}
