// Applies every request that is due: claims, tries, settles, several at once, until nothing is left to do. Only
// failures of the request itself count against it (judge-try.ts).
//
// * The first request goes alone, until the program has answered it: a wrong secret fails no second row, and a program
//   that is down is asked by one request at a time, less and less often, for as long as it takes.
// * 401 ends the drain. Nothing is lost: what was claimed is pending.
// * A failure while the program answers others is the request's own: it waits, longer each time, and ends as failed
//   after a dozen tries. So does a request whose line in the payment ledger the database refuses; the others overtake
//   it.
// * A request that the database does not let be claimed stays pending, and the others are applied.
// * A database that cannot be reached ends the drain, and so does a mirror that keeps personal data otherwise than this
//   process: with each permit that is compared, so nothing more is sent.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiClient } from '../../api/client.ts';
import type { AmountUnit } from '../../config/amount-unit.ts';
import type { EndState } from '../../contract/payment-request.ts';
import type { Timestamp } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { isOfTheRow } from '../../db/refusal.ts';
import { describeError } from '../../describe-error.ts';
import type { Logger } from '../../log.ts';
import type { Treatment } from '../../records/treatment.ts';
import { inSpan, inTrace, type Span } from '../../tracing/span.ts';
import { makeProgramHealth, type ProgramHealth } from '../program-health.ts';
import type { ClaimedUpdate } from '../update-request.ts';
import type { RecordedCall } from './attempt-lines.ts';
import { makeClaims } from './claims.ts';
import { judgeTry } from './judge-try.ts';
import { makeOutage } from './outage.ts';
import { makeUpdateRecorder, type UpdateRecorder } from './record-updates.ts';
import { settleTry } from './settle-try.ts';
import { type Tried, type TryDeps, tryUpdate } from './try-update.ts';

export interface DrainDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  /** What the program counts amounts in; `minor` where left out. */
  readonly amountUnit?: AmountUnit;
  /** Without, everything is stored as it comes. */
  readonly treatment?: Treatment;
}

export interface DrainOptions {
  /** How many requests are worked on at once, from 1. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Ends the drain as well, but lets every PUT that was sent be answered. */
  readonly enough?: AbortSignal;
  readonly timing?: Partial<DrainTiming>;
  /** Called once for every request that ended. */
  readonly onEnd?: (update: ClaimedUpdate, state: EndState) => void;
  /** Called once for every due request that the database does not let be claimed. */
  readonly onRefused?: (id: number, error: Error) => void;
}

export interface DrainTiming {
  /** How long a killed writer's requests wait for the next one. */
  readonly claimMs: number;
  /** The wait after a request's first failure and after the first sign of an outage; doubled with each further one. */
  readonly firstBackoffMs: number;
  /** How old what was read of a commission may be when its change is sent: else it is read again. */
  readonly freshMs: number;
}

export interface DrainSummary {
  /** How many requests ended in each state. */
  readonly ended: Readonly<Partial<Record<EndState, number>>>;
  /** Tries that decided nothing, and requests that could not be claimed: they are still pending. */
  readonly deferred: number;
}

const TIMING: DrainTiming = { claimMs: 30_000, firstBackoffMs: 2_000, freshMs: 10_000 };

/**
 * Returns what became of every request that was due, once none is left. Several drains may run at once, in any
 * number of processes.
 *
 * Throws: ApiUnauthorized, or ApiRejected where the program refuses every request (the address is wrong);
 * ProgramChanged; PersonalDataMismatch; the reason of the signal that was aborted; the database's errors. Whatever it
 * throws, undecided requests are pending, and free for others once their claims are released or have ended.
 */
export function drainUpdates(deps: DrainDeps, options: DrainOptions): Promise<DrainSummary> {
  return inTrace('drain', { attributes: {} }, async (span) => {
    const drain = makeDrain(deps, options);
    try {
      await drain.run();
      return drain.summary();
    } finally {
      const { ended, deferred } = drain.summary();
      span.set({ ...ended, deferred });
      await drain.close();
    }
  });
}

function makeDrain(deps: DrainDeps, options: DrainOptions) {
  const { api, db, log, amountUnit = 'minor' } = deps;
  const { concurrency, onEnd } = options;
  const { claimMs, firstBackoffMs, freshMs }: DrainTiming = { ...TIMING, ...options.timing };
  const name = `${hostname()}:${process.pid}:${randomUUID()}`;
  const claims = makeClaims(db, { name, claimMs, onRefused });
  const health: ProgramHealth = makeProgramHealth({ client: api, db });
  const recorder: UpdateRecorder = makeUpdateRecorder({ db, treatment: deps.treatment }, name);
  const stop = new AbortController();
  const sentSignal = AbortSignal.any([options.signal, stop.signal]);
  const signal = AbortSignal.any([sentSignal, ...(options.enough ? [options.enough] : [])]);

  const queue: ClaimedUpdate[] = [];
  const inFlight = new Set<Promise<void>>();
  /** What could not be noted of them would not free them either. */
  const unsettled: number[] = [];
  const ended: Partial<Record<EndState, number>> = {};
  let deferred = 0;
  const outage = makeOutage(firstBackoffMs);

  const alive = setInterval(() => {
    claims.extend().catch((error: unknown) => {
      // The claim then ends by itself, and whoever takes over reads before it writes.
      log.warn({ reason: describeError(error) }, 'commissions.claims_not_extended');
    });
  }, claimMs / 3);

  async function run(): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const room = health.isProven() && !outage.isOn() ? concurrency : 1;
      if (inFlight.size >= room) {
        await Promise.race(inFlight);
        continue;
      }
      if (outage.isOn()) await outage.wait(signal);
      // What is settled while we look for more may be due again, and was not found.
      const wasIdle = inFlight.size === 0;
      if (queue.length === 0) await claim(room);
      const next = queue.shift();
      if (next !== undefined) start(next);
      else if (inFlight.size > 0) await Promise.race(inFlight);
      else if (wasIdle) return;
    }
  }

  // Nothing can be noted in its row: it stays pending, and the next drain tries again.
  function onRefused(id: number, error: Error): void {
    deferred += 1;
    log.error({ request: id, reason: error.message }, 'commissions.claim_refused');
    options.onRefused?.(id, error);
  }

  async function claim(most: number): Promise<void> {
    queue.push(...(await claims.claim(most)));
  }

  function start(update: ClaimedUpdate): void {
    const { id, action } = update;
    const work = inSpan('update', { attributes: { update_id: id, action } }, (span) => handle(update, span))
      .catch((error: unknown) => {
        unsettled.push(id);
        if (!signal.aborted) stop.abort(error);
        // The drain ends with what ended it first, and would not say this.
        else if (error !== signal.reason) {
          log.error({ request: id, reason: describeError(error) }, 'commissions.not_settled');
        }
      })
      .finally(() => {
        inFlight.delete(work);
        claims.forget(update.id);
      });
    inFlight.add(work);
  }

  async function handle(update: ClaimedUpdate, span: Span): Promise<void> {
    let mark = health.mark();
    const tried = await attempt(update, async ({ commission, askedAt }) => {
      noteAnswer(askedAt);
      mark = health.mark();
      await health.confirmAccount(commission, signal);
    });
    const cost = await judgeTry({ health, outage, log, firstBackoffMs }, update, tried, { mark, signal });
    const { isOurs, end } = await settleTry({ recorder, log, firstBackoffMs }, update, tried, cost);
    span.set({ state: end?.state ?? 'pending' });
    if (cost.fatal !== null) throw cost.fatal;
    if (!isOurs) log.warn({ request: update.id }, 'commissions.claim_lost');
    else if (end === null) deferred += 1;
    else {
      ended[end.state] = (ended[end.state] ?? 0) + 1;
      log.debug({ request: update.id, commission: update.commission_id, ...end }, 'commissions.update_ended');
      onEnd?.(update, end.state);
    }
  }

  async function attempt(update: ClaimedUpdate, onAnswer: TryDeps['onAnswer']): Promise<Tried> {
    const calls: RecordedCall[] = [];
    try {
      return await tryUpdate({ api, recorder, claims, amountUnit, freshMs, calls, onAnswer }, update, {
        signal,
        sentSignal,
      });
    } catch (error) {
      // What was read cannot be understood, and a PUT of an earlier try may have arrived.
      if (!isOfTheRow(error)) throw error;
      return { end: null, error, before: null, after: null, mayBeSent: true, calls, observed: null };
    }
  }

  function noteAnswer(askedAt: Timestamp): void {
    health.noteAnswer(askedAt);
    outage.end();
  }

  return {
    run,
    summary: (): DrainSummary => ({ ended, deferred }),
    async close(): Promise<void> {
      if (!signal.aborted) stop.abort(new Error('the drain is over'));
      await Promise.all(inFlight);
      clearInterval(alive);
      await claims
        .release([...unsettled, ...queue.map(({ id }) => id)])
        .catch((error: unknown) =>
          log.warn({ reason: describeError(error) }, 'commissions.claims_not_released'),
        );
    },
  };
}
