// Applies every request that is due: claims, tries and settles, several at once, until none is left. Only failures of
// the request itself count against it (try-cost.ts).
//
// * The second request begins once the API has answered the first: a wrong secret fails no second row, and an API that
//   is down gets one request at a time, less and less often, for as long as it takes.
// * 401 ends the writer. Nothing is lost: claimed requests stay pending.
// * A failure while the API answers others is the request's own: it waits, longer each time, and ends as failed after a
//   dozen tries. So does a request whose line in the payment ledger the database refuses; the others overtake it.
// * A request that the database does not let be claimed stays pending, and the others are applied.
// * A database that cannot be reached ends the writer, and so does a mirror that keeps personal data otherwise than
//   this process: with each permit that is compared, so nothing more is sent.

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ApiClient } from '../../api/client.ts';
import { describeError } from '../../base/describe-error.ts';
import type { Logger } from '../../base/log.ts';
import { inSpan, inTrace, type Span } from '../../base/span.ts';
import { MONEY, type MoneyFormat } from '../../contract/money.ts';
import type { EndState } from '../../contract/payment-request.ts';
import type { Database } from '../../db/database.ts';
import { isOfTheRow } from '../../db/database-errors.ts';
import type { Treatment } from '../../decode/treatment.ts';
import { makeProgramHealth } from '../program-health.ts';
import type { Claimed } from '../update-request.ts';
import type { RecordedCall } from './attempt-lines.ts';
import { makeClaims } from './claims.ts';
import { makeOutage } from './outage.ts';
import { makePayoutsUnderWay, type PayoutsUnderWay } from './payouts-under-way.ts';
import { makeUpdateRecorder } from './record-updates.ts';
import { settleTry } from './settle-try.ts';
import { costOfTry } from './try-cost.ts';
import { tryPayout } from './try-payout.ts';
import { type Tried, type TryDeps, tryUpdate } from './try-update.ts';

export interface WriterDeps {
  readonly api: ApiClient;
  readonly db: Database;
  readonly log: Logger;
  /** The API's unit of amounts; left out: `minor`. */
  readonly money?: MoneyFormat;
  /** Left out: everything is stored as it comes. */
  readonly treatment?: Treatment;
  /** Of the writers before. Left out: nothing is known. */
  readonly underWay?: PayoutsUnderWay;
}

export interface WriterOptions {
  /** Concurrent requests, from 1. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Ends the writer as well, but lets every PUT that was sent be answered. */
  readonly enough?: AbortSignal;
  readonly timing?: Partial<WriterTiming>;
  /** Called once for every request that ended. */
  readonly onEnd?: (update: Claimed, state: EndState) => void;
  /** Called once for every due request that the database does not let be claimed. */
  readonly onRefused?: (id: number, error: Error) => void;
}

export interface WriterTiming {
  /** The requests of a killed writer wait this long for the next one. */
  readonly claimMs: number;
  /** The wait after a request's first failure and after the first sign of an outage; doubled with each further one. */
  readonly firstBackoffMs: number;
  /** A commission that was read longer ago is read again before its change is sent. */
  readonly freshMs: number;
}

export interface WriterSummary {
  /** How many requests ended in each state. */
  readonly ended: Readonly<Partial<Record<EndState, number>>>;
  /** Tries without an end, and requests that could not be claimed: they are still pending. */
  readonly deferred: number;
}

const TIMING: WriterTiming = { claimMs: 30_000, firstBackoffMs: 2_000, freshMs: 10_000 };

/**
 * Returns the counts of the requests that were due, once none is left. Several writers may run at once, in any number
 * of processes.
 *
 * Throws: ApiUnauthorized, or ApiRejected if the API refuses every request (the address is wrong);
 * ProgramChanged; PersonalDataMismatch; the reason of the signal that was aborted; the database's errors. In each case
 * undecided requests are pending, and free for others once their claims are released or have ended.
 */
export function applyUpdates(deps: WriterDeps, options: WriterOptions): Promise<WriterSummary> {
  return inTrace('apply', { attributes: {} }, async (span) => {
    const writer = makeWriter(deps, options);
    try {
      await writer.run();
      return writer.summary();
    } finally {
      const { ended, deferred } = writer.summary();
      span.set({ ...ended, deferred });
      await writer.close();
    }
  });
}

function makeWriter(deps: WriterDeps, options: WriterOptions) {
  const { api, db, log, money = MONEY.minor, underWay = makePayoutsUnderWay(deps) } = deps;
  const { concurrency, onEnd } = options;
  const { claimMs, firstBackoffMs, freshMs }: WriterTiming = { ...TIMING, ...options.timing };
  const name = `${hostname()}:${process.pid}:${randomUUID()}`;
  const claims = makeClaims(db, { name, claimMs, onRefused });
  const health = makeProgramHealth({ client: api, db });
  const recorder = makeUpdateRecorder({ db, treatment: deps.treatment }, name);
  const stop = new AbortController();
  const sentSignal = AbortSignal.any([options.signal, stop.signal]);
  const signal = AbortSignal.any([sentSignal, ...(options.enough ? [options.enough] : [])]);

  const queue: Claimed[] = [];
  const inFlight = new Set<Promise<void>>();
  /** Requests that could not be settled, and so still have their claims. */
  const unsettled: number[] = [];
  const ended: Partial<Record<EndState, number>> = {};
  let deferred = 0;
  const outage = makeOutage(firstBackoffMs);

  const alive = setInterval(() => {
    claims.extend().catch((error: unknown) => {
      // The claim then ends by itself, and the writer that takes over reads before it writes.
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
      // A request that is settled during the claim may be due again, and was not found.
      const wasIdle = inFlight.size === 0;
      if (queue.length === 0) queue.push(...(await claims.claim(room)));
      const next = queue.shift();
      if (next !== undefined) start(next);
      else if (inFlight.size > 0) await Promise.race(inFlight);
      else if (wasIdle) return;
    }
  }

  // Its row cannot be written: it stays pending, and the next writer tries again.
  function onRefused(id: number, error: Error): void {
    deferred += 1;
    log.error({ request: id, reason: error.message }, 'commissions.claim_refused');
    options.onRefused?.(id, error);
  }

  function start(update: Claimed): void {
    const { id, action } = update;
    const work = inSpan('update', { attributes: { update_id: id, action } }, (span) => handle(update, span))
      .catch((error: unknown) => {
        unsettled.push(id);
        if (!signal.aborted) stop.abort(error);
        // The writer ends with the first error, and would not report this one.
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

  async function handle(update: Claimed, span: Span): Promise<void> {
    let mark = health.mark();
    const tried = await attempt(update, async (ids, askedAt) => {
      health.noteAnswer(askedAt);
      outage.end();
      mark = health.mark();
      await health.confirmAccount(ids, signal);
    });
    const cost = await costOfTry({ health, outage, log, firstBackoffMs }, update, tried, { mark, signal });
    const { isOurs, end } = await settleTry({ recorder, log, firstBackoffMs }, update, tried, cost);
    span.set({ state: end?.state ?? 'pending' });
    if (cost.fatal !== null) throw cost.fatal;
    if (!isOurs) log.warn({ request: update.id }, 'commissions.claim_lost');
    else if (end === null) deferred += 1;
    else {
      ended[end.state] = (ended[end.state] ?? 0) + 1;
      log.debug(
        { request: update.id, commission: update.commission_id, payout: update.payout_id, ...end },
        'commissions.update_ended',
      );
      onEnd?.(update, end.state);
    }
  }

  async function attempt(update: Claimed, onAnswer: TryDeps['onAnswer']): Promise<Tried> {
    const calls: RecordedCall[] = [];
    try {
      const tryDeps = { api, recorder, claims, money, freshMs, calls, onAnswer };
      const signals = { signal, sentSignal };
      if (update.payout_id === null) return await tryUpdate(tryDeps, update, signals);
      const payoutDeps = { ...tryDeps, db, underWay, firstWaitMs: firstBackoffMs * 5 };
      return await tryPayout(payoutDeps, update, signals);
    } catch (error) {
      // The answer cannot be understood, and a PUT of an earlier try may have arrived.
      if (!isOfTheRow(error)) throw error;
      return { end: null, error, before: null, after: null, mayBeSent: true, calls, observed: null };
    }
  }

  return {
    run,
    summary: (): WriterSummary => ({ ended, deferred }),
    async close(): Promise<void> {
      if (!signal.aborted) stop.abort(new Error('the writer has ended'));
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
