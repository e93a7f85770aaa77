// The shape of the client: what it can be asked, what it returns, and what a list promises. Its examples are run by
// test/client/examples.long.test.ts. Nothing here names a database.

import type { z } from 'zod';
import type { TakePermit } from '../api/permit.ts';
import type { RequestEvent } from '../api/request-event.ts';
import type { CommissionChange } from '../api/request-parameters.ts';
import type { RateLimit } from '../config/rate-limit.ts';
import type { Affiliate } from '../contract/affiliate.ts';
import type { Commission } from '../contract/commission.ts';
import type { Expansion, Filters, ListedResource, RESOURCES } from '../contract/resources.ts';

export interface ClientOptions {
  /** Base address of the program, without `/v1`. `http:` is accepted for this machine only. */
  readonly url: string;
  /** The API secret of the account. It never reaches an error's message. */
  readonly secret: string;
  /**
   * The account's limit, kept by this client alone: 45 requests in any 30 seconds where left out, none with null.
   * With null a 429 still makes every request wait.
   */
  readonly rateLimit?: RateLimit;
  /**
   * A budget shared with others, in place of `rateLimit`: one of `createBudget` for the clients of a process, or your
   * own for several processes. It is called before every request, retries included, with the call's signal and
   * `timeoutMs`, and resolves when that one may be sent; what it resolves to is returned exactly once.
   */
  readonly budget?: TakePermit;
  /** Longest wait for one answer, from connecting to its last byte, in milliseconds; 30,000 where left out. */
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
   * Called with a record that is not what the contract says; the list goes on without it. Where left out, such a
   * record ends the list with a ContractViolation.
   */
  readonly onInvalid?: (invalid: InvalidRecord) => void;
}

export interface InvalidRecord {
  /** Null where the record has none that can be used. */
  readonly id: string | null;
  /** Which field, what was expected, and what came. */
  readonly reason: string;
  readonly record: unknown;
}

export type RecordOf<R extends ListedResource> = z.infer<(typeof RESOURCES)[R]['schema']>;

/**
 * Filters combine; one that is not wanted is left out, since undefined is refused as blank text is. Every object named
 * by `expand` comes nested in each record.
 */
export type ListParameters<R extends ListedResource> = Filters<R> & {
  readonly expand?: readonly Expansion<R>[];
};

export interface Lists<R extends ListedResource> {
  /**
   * Yields the records, newest first, 100 per request. A page is asked for only when its first record is; whoever
   * leaves the loop early sends nothing more.
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
   * The program pages by offset, so records that are created or deleted meanwhile move the others. What is promised
   * where the loop ends without an error:
   * - Each record that was in the list from the first request to the last is yielded, and no record twice.
   * - A record created meanwhile may be yielded or not. In a filtered list the same goes for one that began or ceased
   *   to match meanwhile.
   * - A record may be changed or deleted as soon as it is read: it is yielded as it was then.
   *
   * What nobody can promise on such an API: that two records of equal creation time are not swapped between two
   * answers, and that the total which the program states is true. An unfiltered list is checked against that total; a
   * filtered one only where the total never changed.
   *
   * Where records may be missing, the loop ends with ListUnverified, after everything that was read is yielded.
   * To tell records apart, the identifiers of all are kept until the loop ends: some 100 bytes each.
   *
   * Throws: ListUnverified; ContractViolation on a record that is not what the contract says (see `onInvalid`);
   * the `Api…` errors, after retries where they can help; the signal's reason; TypeError, at the call and not in the
   * loop, on parameters that are unknown or hold nothing.
   */
  list(parameters?: ListParameters<R>, options?: ListOptions): AsyncGenerator<RecordOf<R>, void, undefined>;
}

/** The program keeps at most one affiliate for either of these. It has no way to read one by its identifier. */
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
   * console.log(affiliate === null ? 'nobody' : (affiliate.links?.length ?? 0));
   * ```
   *
   * Throws: ContractViolation where the program answers several; AnswerStored; the `Api…` errors; the signal's
   * reason; TypeError where the key is not exactly one of the two, with a value.
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
   * Throws: ApiRejected with `status` 404 where there is none; AnswerStored; ContractViolation; the other `Api…`
   * errors; the signal's reason; TypeError where the identifier is no UUID.
   */
  get(id: string, options?: CallOptions): Promise<Commission>;
  /**
   * Changes the commission and returns it as the program answers it. A field that is left out stays as it is;
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
   *     // No answer came: the program may have made the change or not, and only reading shows which.
   *     console.log((await client.commissions.get(id)).paid_at);
   *   }
   * }
   * ```
   *
   * Nothing compares the commission with what you read before: the program has no condition on a change, so another
   * writer's change in between is overwritten. It is sent again only where it cannot have been applied.
   *
   * Throws: WriteOutcomeUnknown where the change may have been applied; ApiRejected with `status` 404 where there is no
   * such commission, and 422 with `details` where the program refuses the change; the other `Api…` errors; the signal's
   * reason (an abort leaves open whether the change was applied); TypeError on a change of nothing, or with a field
   * that is unknown.
   */
  update(id: string, change: CommissionChange, options?: CallOptions): Promise<Commission>;
}

export interface Client extends AsyncDisposable {
  readonly affiliates: Affiliates;
  readonly referrals: Lists<'referrals'>;
  /** A program need not list its campaigns: ApiRejected with `status` 404 says that it does not. */
  readonly campaigns: Lists<'campaigns'>;
  readonly commissions: Commissions;
  /**
   * Closes every connection; calls that are under way fail, a change that was sent with WriteOutcomeUnknown. A call
   * after it, the next page of a list included, is a TypeError. `await using` does the same. Idempotent: yes.
   */
  close(): Promise<void>;
}
