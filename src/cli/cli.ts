// What every command is handed: the environment, and how to run its work.

import type { ExitCode } from './exit-code.ts';
import type { Lifetime } from './lifetime.ts';

export interface Cli {
  /** For configuration.ts, by which a command reads it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Runs a command's work in a lifetime; the exit code that it returns becomes the process's. */
  readonly run: (work: (lifetime: Lifetime) => Promise<ExitCode>) => Promise<void>;
}
