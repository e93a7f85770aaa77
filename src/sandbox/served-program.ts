// One program as the sandbox serves it: its data, secret, limit and faults, and what it received.

import type { Logger } from '../base/log.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';
import type { OptionalList } from '../contract/optional-lists.ts';
import { makeReadRows, type Pool, quoteSchema } from './data.ts';
import { type FaultPlan, makeChooseFault } from './fault-plan.ts';
import { makeReadListPage } from './list-page.ts';
import { type Live, type LiveOptions, makeLive } from './live.ts';
import { makeOpenapiDocument } from './openapi.ts';
import { prepareSchema } from './prepare-schema.ts';
import { makeProgram, type Program } from './program.ts';
import { makeRateLimiter } from './rate-limit.ts';
import { makeReceivedRequests, type ReceivedRequest } from './received-requests.ts';
import type { Secrets } from './secrets.ts';
import type { SeedProgress } from './seed.ts';
import type { RouteDeps } from './server.ts';
import { makeCounting, type Statistics } from './statistics.ts';
import { makeWire, type Spelling, type TimeStyle } from './wire.ts';

export interface ProgramOptions {
  readonly schema: string;
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

export interface ProgramDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly secrets: Secrets;
  /** See makeReadRows. */
  readonly keepsPlans: boolean;
  readonly onProgress?: (progress: SeedProgress) => void;
  /** Aborts a seed, which is then rolled back. */
  readonly signal?: AbortSignal;
}

/** What a test, or the command, does with a program that is served. */
export interface ProgramControl {
  /** The last 10,000, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  readonly program: Program;
  readonly live: Live;
  statistics(): Statistics;
  /** Applies from the next request on; its counts and its randomness start over. */
  setFaults(plan: FaultPlan): void;
  /** Applies from the next request on; earlier requests still count. */
  setRateLimit(limit: RateLimit): void;
  /** Refuses the former secret from the next request on. */
  setSecret(secret: string): void;
}

export interface ServedProgram {
  readonly routes: RouteDeps;
  readonly control: ProgramControl;
  /** Seeds the program, or finds it, and lets its requests through. Returns whether it was seeded. */
  prepare(): Promise<boolean>;
}

/** `base` is the path of the program's address, such as `/acme`. */
export function makeServedProgram(deps: ProgramDeps, base: string, options: ProgramOptions): ServedProgram {
  const { pool, log, secrets } = deps;
  const s = quoteSchema(options.schema);
  const style = {
    spelling: options.spelling ?? 'neutral',
    times: options.times ?? 'utc',
    optionalLists: options.optionalLists ?? [],
  } as const;
  const { spelling, optionalLists } = style;
  const wire = makeWire(style, s);
  const readRows = makeReadRows(pool, deps.keepsPlans);
  const received = makeReceivedRequests();
  const rateLimiter = makeRateLimiter(options.rateLimit);
  const counting = makeCounting(options.rateLimit);
  let chooseFault = makeChooseFault(options.faults, options.seed);
  const prepared = Promise.withResolvers<void>();
  const program = makeProgram({ pool, s, seed: options.seed, spelling, now: () => new Date() });
  const live = makeLive({ program, log, servesPayouts: optionalLists.includes('payouts') });
  secrets.set(base, options.secret);
  return {
    routes: {
      base,
      log,
      prepared: prepared.promise,
      isAuthentic(header) {
        const secret = secrets.judge(base, header);
        if (secret !== 'own') counting.refused(secret);
        return secret === 'own';
      },
      receive(atMs) {
        const verdict = rateLimiter.receive(atMs);
        counting.received(atMs, verdict.isAllowed);
        return verdict;
      },
      chooseFault: (method, path) => chooseFault(method, path),
      requests: received,
      statistics: counting.read,
      lists: { readListPage: makeReadListPage(readRows, s), wire, s },
      commissions: { readRows, wire, spelling, s },
      payouts: { pool, readRows, wire, s },
      optionalLists,
      openapi: makeOpenapiDocument(style),
    },
    control: {
      requests: received.all,
      program,
      live,
      statistics: counting.read,
      setFaults(plan) {
        chooseFault = makeChooseFault(plan, options.seed);
      },
      setRateLimit(limit) {
        rateLimiter.setLimit(limit);
        counting.setLimit(limit);
      },
      setSecret: (secret) => secrets.set(base, secret),
    },
    async prepare() {
      const seeding = { ...deps, ...(options.asOf && { asOf: options.asOf }) };
      const isSeeded = await prepareSchema(seeding, options.schema, { ...options, ...style }, options.reset);
      prepared.resolve();
      if (options.live !== null) live.start(options.live);
      return isSeeded;
    },
  };
}
