// Starts the sandbox. The caller closes the pool.

import type { AddressInfo } from 'node:net';
import { errorCode } from '../base/describe-error.ts';
import { Busy, ConfigError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import { type Pool, quoteSchema } from './data.ts';
import type { FaultPlan } from './fault-plan.ts';
import { makeChooseFault } from './fault-plan.ts';
import { makeReadListPage } from './list-page.ts';
import { type Live, type LiveOptions, makeLive } from './live.ts';
import { makeOpenapiDocument } from './openapi.ts';
import { prepareSchema } from './prepare-schema.ts';
import { makeProgram, type Program } from './program.ts';
import { makeRateLimiter } from './rate-limit.ts';
import { makeReceivedRequests, type ReceivedRequest } from './received-requests.ts';
import type { SeedProgress } from './seed.ts';
import { makeServer } from './server.ts';
import { makeWire, type Spelling, type TimeStyle } from './wire.ts';

export interface SandboxOptions {
  readonly schema: string;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly secret: string;
  readonly seed: number;
  readonly affiliates: number;
  readonly referrals: number;
  readonly rateLimit: RateLimit;
  readonly faults: FaultPlan;
  /** The present of a program that is seeded now. Left out: fixed, so that the same seed gives the same program. */
  readonly asOf?: Date;
  /** Null: no event until `live.start`. */
  readonly live: LiveOptions | null;
  /** Drops a program that the schema holds, and seeds a new one. */
  readonly reset: boolean;
  /** The contract's if left out. */
  readonly spelling?: Spelling;
  /** In UTC if left out. */
  readonly times?: TimeStyle;
  /** The optional lists that are served; none if left out. */
  readonly optionalLists?: readonly OptionalList[];
}

export interface SandboxDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly onProgress?: (progress: SeedProgress) => void;
  /** Aborts a seed, which is then rolled back. */
  readonly signal?: AbortSignal;
}

export interface Sandbox {
  /** The base address, without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Whether this start seeded the program; false if it was there already. */
  readonly isSeeded: boolean;
  /** The last 10,000, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  readonly program: Program;
  readonly live: Live;
  /** Applies from the next request on; its counts and its randomness start over. */
  setFaults(plan: FaultPlan): void;
  /** Applies from the next request on; earlier requests still count. */
  setRateLimit(limit: RateLimit): void;
  /** Ends every connection, also the stalled ones. Idempotent: yes. */
  close(): Promise<void>;
}

/**
 * Throws: ConfigError if the options are wrong or the schema holds another program; Busy if the port is taken; the
 * signal's reason if it aborts before the program is there.
 */
export async function startSandbox(deps: SandboxDeps, options: SandboxOptions): Promise<Sandbox> {
  const { pool, log } = deps;
  checkOptions(options);
  const s = quoteSchema(options.schema);
  const style = {
    spelling: options.spelling ?? 'neutral',
    times: options.times ?? 'utc',
    optionalLists: options.optionalLists ?? [],
  } as const;
  const wire = makeWire(style, s);
  const received = makeReceivedRequests();
  const rateLimiter = makeRateLimiter(options.rateLimit);
  let chooseFault = makeChooseFault(options.faults, options.seed);
  const prepared = Promise.withResolvers<void>();
  const server = makeServer({
    log,
    prepared: prepared.promise,
    secret: options.secret,
    rateLimiter,
    chooseFault: (method, path) => chooseFault(method, path),
    requests: received,
    lists: { readListPage: makeReadListPage(pool, s), wire, s },
    commissions: { pool, wire, spelling: style.spelling, s },
    payouts: { pool, wire, s },
    optionalLists: style.optionalLists,
    openapi: makeOpenapiDocument(style),
  });
  // The port first: a start without a port must not replace the program of another sandbox.
  const url = await listen(server, options);
  let isSeeded: boolean;
  try {
    const seeding = { ...deps, ...(options.asOf && { asOf: options.asOf }) };
    isSeeded = await prepareSchema(seeding, options.schema, { ...options, ...style }, options.reset);
  } catch (error) {
    await server.close();
    throw error;
  }
  prepared.resolve();
  const { port } = server.server.address() as AddressInfo;
  const program = makeProgram({
    pool,
    s,
    seed: options.seed,
    spelling: style.spelling,
    now: () => new Date(),
  });
  const live = makeLive({ program, log, servesPayouts: style.optionalLists.includes('payouts') });
  if (options.live !== null) live.start(options.live);
  log.info({ url, schema: options.schema, is_seeded: isSeeded }, 'sandbox.listening');

  return {
    url,
    port,
    isSeeded,
    requests: received.all,
    program,
    live,
    setFaults(plan) {
      chooseFault = makeChooseFault(plan, options.seed);
    },
    setRateLimit: rateLimiter.setLimit,
    async close() {
      await live.stop();
      await server.close();
    },
  };
}

async function listen(
  server: ReturnType<typeof makeServer>,
  { host, port }: Pick<SandboxOptions, 'host' | 'port'>,
): Promise<string> {
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

function checkOptions(options: SandboxOptions): void {
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
  if (problems.length > 0) throw new ConfigError(problems);
}
