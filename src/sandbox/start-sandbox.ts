// Starts the sandbox, of one program or of many. The caller closes the pool.

import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pMap from 'p-map';
import { errorCode } from '../base/describe-error.ts';
import { Busy, ConfigError } from '../base/errors.ts';
import { makeSecrets } from './secrets.ts';
import {
  makeServedProgram,
  type ProgramControl,
  type ProgramDeps,
  type ProgramOptions,
} from './served-program.ts';
import { makeServer } from './server.ts';

export interface SandboxAddress {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

export interface SandboxOptions extends SandboxAddress, ProgramOptions {}

export interface SandboxOfManyOptions extends SandboxAddress {
  /** By name, of which the address ends in `/NAME`. No two have one schema or secret. */
  readonly programs: Readonly<Record<string, ProgramOptions>>;
}

export type SandboxDeps = Omit<ProgramDeps, 'secrets' | 'keepsPlans'>;

export interface Sandbox extends SandboxProgram {
  readonly port: number;
  /** Ends every connection, also the stalled ones. Idempotent: yes. */
  close(): Promise<void>;
}

/** One of the programs of a sandbox. */
export interface SandboxProgram extends ProgramControl {
  /** The base address, without `/v1`. */
  readonly url: string;
  /** Whether this start seeded the program; false if it was there already. */
  readonly isSeeded: boolean;
}

export interface SandboxOfMany extends Pick<Sandbox, 'url' | 'port' | 'close'> {
  /** By name. */
  readonly programs: ReadonlyMap<string, SandboxProgram>;
}

/**
 * Throws: ConfigError if the options are wrong or the schema holds another program; Busy if the port is taken; the
 * signal's reason if it aborts before the program is there.
 */
export async function startSandbox(deps: SandboxDeps, options: SandboxOptions): Promise<Sandbox> {
  const { programs, ...listening } = await start(deps, options, new Map([['', options]]));
  return { ...findProgram(programs, ''), ...listening };
}

/** Serves each program below an address of its own. Throws: what `startSandbox` throws. */
export async function startSandboxOfMany(
  deps: SandboxDeps,
  { programs, ...address }: SandboxOfManyOptions,
): Promise<SandboxOfMany> {
  return start(deps, address, new Map(Object.entries(programs)));
}

/** Throws if the sandbox serves no program of that name. */
export function findProgram(programs: SandboxOfMany['programs'], name: string): SandboxProgram {
  const program = programs.get(name);
  if (program === undefined) throw new Error(`the sandbox serves no program ${name}`);
  return program;
}

/** One seeds while the other waits for Postgres. */
const PREPARED_AT_ONCE = 2;

const MOST_WITH_PLANS = 10;

/** The program of an empty name is served at the root. */
async function start(
  deps: SandboxDeps,
  address: SandboxAddress,
  options: ReadonlyMap<string, ProgramOptions>,
): Promise<SandboxOfMany> {
  const problems = [...new Set([...options.values()].flatMap(findProblems))];
  if (problems.length > 0) throw new ConfigError(problems);
  const common = { ...deps, secrets: makeSecrets(), keepsPlans: options.size <= MOST_WITH_PLANS };
  const served = [...options].map(([name, program]) => ({
    name,
    schema: program.schema,
    ...makeServedProgram(common, name === '' ? '' : `/${name}`, program),
  }));
  const server = makeServer(
    deps.log,
    served.map(({ routes }) => routes),
  );
  // The port first: a start without a port must not replace the program of another sandbox.
  const url = await listen(server, address);
  const close = async () => {
    await Promise.all(served.map(({ control }) => control.live.stop()));
    await server.close();
  };
  try {
    const programs = await pMap(
      served,
      async ({ name, schema, routes, control, prepare }) => {
        const program = { ...control, url: url + routes.base, isSeeded: await prepare() };
        deps.log.info({ url: program.url, schema, is_seeded: program.isSeeded }, 'sandbox.listening');
        return [name, program] as const;
      },
      { concurrency: PREPARED_AT_ONCE },
    );
    const { port } = server.server.address() as AddressInfo;
    return { url, port, programs: new Map(programs), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(server: FastifyInstance, { host, port }: SandboxAddress): Promise<string> {
  try {
    return await server.listen({ host, port });
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') {
      throw new Busy(`port ${port} is taken: give the sandbox another one, or 0 for any free one`, {
        cause: error,
      });
    }
    throw error;
  }
}

function findProblems(options: ProgramOptions): string[] {
  const problems: string[] = [];
  for (const name of ['seed', 'affiliates', 'referrals'] as const) {
    const value = options[name];
    // Larger seeds would not differ from smaller ones: the generator takes 32 bits.
    if (!Number.isInteger(value) || value < 0 || value > 0x7fffffff) {
      problems.push(`--${name} must be a whole number from 0 to ${0x7fffffff}, not ${value}`);
    }
  }
  if (options.referrals > 0 && options.affiliates === 0) {
    problems.push('--referrals needs at least one of --affiliates: every referral belongs to one');
  }
  if (options.secret === '') problems.push('the secret of the sandbox must not be empty');
  if (options.live !== null && !(options.live.eventsPerSecond > 0 && options.live.eventsPerSecond <= 1000)) {
    problems.push('--live must be more than 0 and at most 1000 events per second');
  }
  return problems;
}
