// The client of the affiliate program as a library: `import { createClient } from 'affiliate-mirror/client'`. It needs
// only an address and a secret: no database and no logger.

import { makeApiClient } from '../api/client.ts';
import { ConfigError, ContractViolation } from '../base/errors.ts';
import { apiUrlSchema, checkSecret } from '../config/program/program-access.ts';
import { identifier, lowerCaseId } from '../contract/fields.ts';
import type { ListedResource } from '../contract/resources.ts';
import { checkAffiliateKey, checkChange, checkListParameters } from './check-parameters.ts';
import { createBudget, findLimitProblems, USUAL_TIMEOUT_MS } from './memory-budget.ts';
import { checkRecord, invalidRecord, readList } from './read-list.ts';
import type { Client, ClientOptions, Lists } from './types.ts';

export type { AnsweredLimits, Permit, TakePermit } from '../api/permit.ts';
export type { RequestEvent } from '../api/request-event.ts';
export type { CommissionChange } from '../api/request-parameters.ts';
// biome-ignore lint/performance/noBarrelFile: a caller imports the errors from the same module as the client.
export {
  AnswerStored,
  ApiRejected,
  ApiThrottled,
  ApiUnauthorized,
  ApiUnavailable,
  ApiUnreachable,
  AppError,
  ConfigError,
  ContractViolation,
  ListUnverified,
  WriteOutcomeUnknown,
} from '../base/errors.ts';
export type { RateLimit } from '../config/program/rate-limit.ts';
export type { Affiliate, Campaign, Link } from '../contract/affiliate.ts';
export type { Commission, Sale } from '../contract/commission.ts';
export type { Payout } from '../contract/payout.ts';
export type { Referral } from '../contract/referral.ts';
export { createBudget } from './memory-budget.ts';
export type {
  AffiliateKey,
  Affiliates,
  CallOptions,
  Client,
  ClientOptions,
  Commissions,
  InvalidRecord,
  ListOptions,
  ListParameters,
  Lists,
  Payouts,
} from './types.ts';

/** The limit that was seen of a live program. */
const USUAL_LIMIT = { requests: 45, windowSeconds: 30 };

/**
 * Returns a client of the API with its own connections, none of them open yet.
 *
 * ```ts
 * import { ApiRejected, createClient } from 'affiliate-mirror/client';
 *
 * await using client = createClient({
 *   url: 'https://api.example.com',
 *   secret: process.env.AFFILIATE_API_SECRET ?? '',
 * });
 * const signal = AbortSignal.timeout(60_000);
 * try {
 *   const commission = await client.commissions.get('0b9a3a55-0c53-4d2e-9a53-6f3f5ea7d8c1', { signal });
 *   console.log(commission.amount, commission.currency, commission.paid_at);
 * } catch (error) {
 *   if (!(error instanceof ApiRejected && error.status === 404)) throw error;
 *   console.log('there is no such commission');
 * }
 * ```
 *
 * Every request waits for the account's budget. Requests that may succeed when retried are: five attempts within some
 * seconds, and ten after a 429, each after the wait that the API asks for.
 *
 * Throws: ConfigError naming every problem of the options.
 */
export function createClient(options: ClientOptions): Client {
  const { url, secret, timeoutMs, budget } = checkOptions(options);
  const api = makeApiClient(
    { takePermit: budget, log: SILENT, ...(options.onRequest && { onRequest: options.onRequest }) },
    { url, secret, timeoutMs },
  );
  const lists = <R extends ListedResource>(resource: R): Lists<R> => ({
    list: (parameters: unknown = {}, callOptions = {}) =>
      readList(api, resource, checkListParameters(resource, parameters), callOptions),
  });
  return {
    affiliates: {
      ...lists('affiliates'),
      async find(key, callOptions = {}) {
        const query = { page: 1, limit: 2, ...checkAffiliateKey(key) };
        const { data } = await api.list('affiliates', query, callOptions);
        if (data.length > 1) {
          throw new ContractViolation('the API has several affiliates, but the contract says one or none');
        }
        if (data.length === 0) return null;
        const checked = checkRecord('affiliates', data[0]);
        if ('invalid' in checked) throw invalidRecord('affiliates', checked.invalid);
        return checked.record;
      },
    },
    referrals: lists('referrals'),
    campaigns: lists('campaigns'),
    commissions: {
      async get(id, callOptions = {}) {
        return (await api.getCommission(checkId('commission', id), callOptions)).commission;
      },
      async update(id, change, callOptions = {}) {
        return (await api.putCommission(checkId('commission', id), checkChange(change), callOptions))
          .commission;
      },
    },
    payouts: {
      ...lists('payouts'),
      async get(id, callOptions = {}) {
        return (await api.getPayout(checkId('payout', id), callOptions)).payout;
      },
      async pay(id, callOptions = {}) {
        return (await api.payPayout(checkId('payout', id), callOptions)).payout;
      },
    },
    close: () => api.close(),
    [Symbol.asyncDispose]: () => api.close(),
  };
}

const SILENT = { debug() {}, warn() {} };

function checkOptions(options: ClientOptions) {
  const problems: string[] = [];
  const url = apiUrlSchema.safeParse(options.url);
  for (const { message } of url.error?.issues ?? []) problems.push(`url ${message}`);
  // JavaScript may pass an environment variable that is not set.
  const secret = checkSecret(options.secret ?? '', 'secret', problems);
  const { rateLimit = USUAL_LIMIT, timeoutMs = USUAL_TIMEOUT_MS, budget } = options;
  if (options.rateLimit !== undefined && budget !== undefined) {
    problems.push('rateLimit and budget are both given: keep one of them');
  }
  if (budget !== undefined && typeof budget !== 'function') {
    problems.push('budget must be a function, such as createBudget(…) returns: pass a limit as rateLimit');
  }
  problems.push(...findLimitProblems(rateLimit));
  if (!(Number.isInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= MOST_TIMEOUT_MS)) {
    problems.push(`timeoutMs must be a whole number of milliseconds from 1 to ${MOST_TIMEOUT_MS}`);
  }
  if (problems.length > 0 || !url.success || secret === null) throw new ConfigError(problems);
  return { url: url.data, secret, timeoutMs, budget: budget ?? createBudget(rateLimit) };
}

/** A longer timer of Node ends at once. */
const MOST_TIMEOUT_MS = 2 ** 31 - 1;

// Any other text would make the address of something else.
function checkId(kind: string, id: string): string {
  if (!identifier.safeParse(id).success) throw new TypeError(`the id of a ${kind} must be a UUID`);
  return lowerCaseId(id);
}
