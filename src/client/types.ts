// The interface of the client. Its examples are run by test/client/examples.long.test.ts.

import type { z } from 'zod';
import type { TakePermit } from '../api/permit.ts';
import type { RequestEvent } from '../api/request-event.ts';
import type { CommissionChange } from '../api/request-parameters.ts';
import type { RateLimit } from '../config/program/rate-limit.ts';
import type { Affiliate } from '../contract/affiliate.ts';
import type { Commission } from '../contract/commission.ts';
import type { Payout } from '../contract/payout.ts';
import type { Expansion, Filters, ListedResource, RESOURCES } from '../contract/resources.ts';

export interface ClientOptions {
  /** Base address of the API, without `/v1`. `http:` is accepted for this machine only. */
  readonly url: string;
  /** The API secret of the account. It never reaches an error's message. */
  readonly secret: string;
  /**
   * The account's limit, kept by this client only: 45 requests in any 30 seconds if left out, none with null. With null
   * a 429 still makes every request wait.
   */
  readonly rateLimit?: RateLimit;
  /**
   * A budget shared with others, in place of `rateLimit`: one of `createBudget` for the clients of a process, or your
   * own for several processes. It is called before every request, retries included, with the call's signal and
   * `timeoutMs`, and resolves to a permit when the request may be sent; each permit is returned exactly once.
   */
  readonly budget?: TakePermit;
  /** Longest wait for one answer, from connecting to its last byte, in milliseconds; 30,000 if left out. */
  readonly timeoutMs?: number;
  /** Called after every request, retries included, with its status and duration. */
  readonly onRequest?: (event: RequestEvent) => void;
}

export interface CallOptions {
  /** Ends the call, its waits and its retries. The call then throws the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface ListOptions extends CallOptions {
  /**
   * Called with a record that is not as the contract says; the list continues without it. If left out, such a record
   * ends the list with a ContractViolation.
   */
  readonly onInvalid?: (invalid: InvalidRecord) => void;
}

export interface InvalidRecord {
  /** Null if the record has no usable identifier. */
  readonly id: string | null;
  /** The field, the expected value, and the received type. */
  readonly reason: string;
  readonly record: unknown;
}

export type RecordOf<R extends ListedResource> = z.infer<(typeof RESOURCES)[R]['schema']>;

/**
 * Filters combine. Leave out a filter that you do not want: undefined is refused, as blank text is. Every object named
 * by `expand` comes nested in each record.
 */
export type ListParameters<R extends ListedResource> = Filters<R> & {
  readonly expand?: readonly Expansion<R>[];
};

export interface Lists<R extends ListedResource> {
  /**
   * Yields the records, newest first, 100 per request. A page is requested when the loop reaches its first record; a
   * loop that is left early sends nothing more.
   *
   * ```ts
   * import { createClient } from 'affiliate-mirror/client';
   *
   * await using client = createClient({
   *   url: 'https://api.example.com',
   *   secret: process.env.AFFILIATE_API_SECRET ?? '',
   * });
   * for await (const referral of client.referrals.list({ conversion_state: 'lead', expand: ['affiliate'] })) {
   *   console.log(referral.id, referral.customer?.email, referral.affiliate?.email);
   * }
   * ```
   *
   * The API pages by offset, so records that are created or deleted meanwhile move the others. If the loop ends without
   * an error:
   * - Each record that was in the list from the first request to the last is yielded, and no record twice.
   * - A record created meanwhile may be yielded or not. In a filtered list the same goes for one that began or ceased
   *   to match meanwhile.
   * - Each record is yielded as it was when it was read.
   *
   * Two assumptions cannot be checked: that two records of equal creation time are not swapped between two answers, and
   * that the API's total is true. An unfiltered list is checked against that total; a filtered one only if the total
   * never changed.
   *
   * If records may be missing, the loop ends with ListUnverified, after every record that was read is yielded. The
   * identifiers of all records stay in memory until the loop ends: some 100 bytes each.
   *
   * Throws: ListUnverified; AnswerStored; ContractViolation on a record that is not as the contract says (see
   * `onInvalid`); the `Api…` errors, after retries if they can help; the signal's reason; TypeError, at the call and
   * not in the loop, on parameters that are unknown or hold nothing.
   */
  list(parameters?: ListParameters<R>, options?: ListOptions): AsyncGenerator<RecordOf<R>, void, undefined>;
}

/** At most one affiliate matches. The API has no way to read an affiliate by its identifier. */
export type AffiliateKey =
  | { readonly email: string; readonly stripe_customer_id?: never }
  | { readonly stripe_customer_id: string; readonly email?: never };

export interface Affiliates extends Lists<'affiliates'> {
  /**
   * Returns the affiliate with that email address or customer identifier, or null, by one request.
   *
   * ```ts
   * import { createClient } from 'affiliate-mirror/client';
   *
   * await using client = createClient({
   *   url: 'https://api.example.com',
   *   secret: process.env.AFFILIATE_API_SECRET ?? '',
   * });
   * const affiliate = await client.affiliates.find({ email: 'ada@example.com', expand: ['links'] });
   * console.log(affiliate === null ? 'no such affiliate' : (affiliate.links?.length ?? 0));
   * ```
   *
   * Throws: ContractViolation if the API answers several; AnswerStored; the `Api…` errors; the signal's
   * reason; TypeError if the key is not exactly one of the two, with a value.
   */
  find(
    key: AffiliateKey & { readonly expand?: readonly Expansion<'affiliates'>[] },
    options?: CallOptions,
  ): Promise<Affiliate | null>;
}

export interface Commissions {
  /**
   * Returns the commission with its sale, campaign, referral and affiliate. The commission's and its sale's own fields
   * are checked, those of the others are passed on as they came.
   *
   * Throws: ApiRejected with `status` 404 if there is none; AnswerStored; ContractViolation; the other `Api…`
   * errors; the signal's reason; TypeError if the identifier is no UUID.
   */
  get(id: string, options?: CallOptions): Promise<Commission>;
  /**
   * Changes the commission and returns it as the API answers it. A field that is left out stays as it is;
   * `paid_at: null` marks the commission unpaid. Times are ISO 8601 with a time zone.
   *
   * ```ts
   * import { createClient, WriteOutcomeUnknown } from 'affiliate-mirror/client';
   *
   * await using client = createClient({
   *   url: 'https://api.example.com',
   *   secret: process.env.AFFILIATE_API_SECRET ?? '',
   * });
   * const id = '0b9a3a55-0c53-4d2e-9a53-6f3f5ea7d8c1';
   * const commission = await client.commissions.get(id);
   * if (commission.paid_at === null) {
   *   try {
   *     await client.commissions.update(id, { paid_at: '2026-10-01T12:00:00Z' });
   *   } catch (error) {
   *     if (!(error instanceof WriteOutcomeUnknown)) throw error;
   *     // No answer came: the API may have made the change or not, and only reading shows which.
   *     console.log((await client.commissions.get(id)).paid_at);
   *   }
   * }
   * ```
   *
   * The API has no conditional changes: a change by another client since your last read is overwritten. The request is
   * retried only if it cannot have been applied.
   *
   * Throws: WriteOutcomeUnknown if the change may have been applied; ApiRejected with `status` 404 if there is no such
   * commission, and 422 with `details` if the API refuses the change; the other `Api…` errors; the signal's
   * reason (an abort leaves open whether the change was applied); TypeError on a change of nothing, or with a field
   * that is unknown.
   */
  update(id: string, change: CommissionChange, options?: CallOptions): Promise<Commission>;
}

/** An affiliate program need not serve payouts: ApiRejected with `status` 404 if it does not. */
export interface Payouts extends Lists<'payouts'> {
  /**
   * Returns the payout with its affiliate and its commissions. The fields of the affiliate are passed on as they came.
   *
   * Throws: as `commissions.get`.
   */
  get(id: string, options?: CallOptions): Promise<Payout>;
  /**
   * Has the API pay all commissions of the payout, and returns it as the API answers it. As a rule its state is then
   * `processing`: read it again until it is `paid`. The time of payment cannot be given.
   *
   * ```ts
   * import { createClient } from 'affiliate-mirror/client';
   *
   * await using client = createClient({
   *   url: 'https://api.example.com',
   *   secret: process.env.AFFILIATE_API_SECRET ?? '',
   * });
   * for await (const { id } of client.payouts.list({ state: 'due' })) {
   *   const { amount, currency, commissions } = await client.payouts.get(id);
   *   console.log(amount, currency, commissions?.length);
   *   console.log((await client.payouts.pay(id)).state);
   *   break;
   * }
   * ```
   *
   * The request is retried only if it cannot have been applied. Whether the API refuses to pay a payout twice is not
   * known: pay one only after `get` says that it is due.
   *
   * Throws: as `commissions.update`.
   */
  pay(id: string, options?: CallOptions): Promise<Payout>;
}

export interface Client extends AsyncDisposable {
  readonly affiliates: Affiliates;
  readonly referrals: Lists<'referrals'>;
  /** An affiliate program need not list its campaigns: ApiRejected with `status` 404 if it does not. */
  readonly campaigns: Lists<'campaigns'>;
  readonly commissions: Commissions;
  readonly payouts: Payouts;
  /**
   * Closes every connection; calls that are under way fail, a change that was sent with WriteOutcomeUnknown. A call
   * after it, the next page of a list included, is a TypeError. `await using` does the same. Idempotent: yes.
   */
  close(): Promise<void>;
}
