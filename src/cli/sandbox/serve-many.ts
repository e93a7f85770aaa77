// Serves several made-up programs, and prints what reaches them.

import type { RateLimit } from '../../config/program/rate-limit.ts';
import type { ProgramOptions } from '../../sandbox/served-program.ts';
import { type SandboxAddress, type SandboxDeps, startSandboxOfMany } from '../../sandbox/start-sandbox.ts';
import type { Lifetime } from '../lifetime.ts';
import { print } from '../output/print.ts';
import { namePrograms, type ProgramsFile, writeProgramsFile } from './list-programs.ts';

/** Of one program; that of one of several ends in its name. */
export const SANDBOX_SCHEMA = 'sandbox';

export interface Serving {
  readonly deps: SandboxDeps;
  readonly address: SandboxAddress;
  /** Of several, each has a seed of its own, from this one on. */
  readonly program: Omit<ProgramOptions, 'schema' | 'secret'>;
  readonly lifetime: Lifetime;
  /** Database, host and port. */
  readonly database: string;
}

export async function serveMany(
  { deps, address, program, lifetime, database }: Serving,
  count: number,
  dataDir: string,
): Promise<void> {
  const named = namePrograms(SANDBOX_SCHEMA, count);
  const programs = named.map(({ name, ...own }, index) => [
    name,
    { ...program, ...own, seed: program.seed + index },
  ]);
  const sandbox = await startSandboxOfMany(deps, { ...address, programs: Object.fromEntries(programs) });
  lifetime.onClose(() => sandbox.close());
  const { url } = sandbox;
  const limit = describeLimit(program.rateLimit);
  print(describeMany(url, await writeProgramsFile(dataDir, named, { url, rateLimit: limit })));
  const seeded = [...sandbox.programs.values()].filter(({ isSeeded }) => isSeeded).length;
  print(
    `Their data: ${seeded} made just now, ${count - seeded} as the last sandbox left them, in the schemas ${SANDBOX_SCHEMA}_NAME of ${database}.`,
  );
}

function describeMany(url: string, { path, text }: ProgramsFile): string {
  return `The sandbox answers below ${url}, for each of these programs with its own secret:

${text}
That is ${path}. In another terminal:

  export PROGRAMS_FILE='${path}'
  npx affiliate-mirror sync --migrate
  curl ${url}/statistics
`;
}

/** Returns the limit as API_RATE_LIMIT takes it. */
export function describeLimit(limit: RateLimit): string {
  return limit === null ? 'none' : `${limit.requests}/${limit.windowSeconds}`;
}
