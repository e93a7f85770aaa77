// A sandbox of its own for a test, with the plain HTTP calls that the tests make. Import it from a test file only.

import type pg from 'pg';
import { Agent, request } from 'undici';
import type { z } from 'zod';
import { makeLogger } from '../../src/base/log.ts';
import { type Affiliate, affiliateSchema } from '../../src/contract/affiliate.ts';
import { type ListEnvelope, listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { commissionSchema } from '../../src/contract/commission.ts';
import { payoutSchema } from '../../src/contract/payout.ts';
import { type Referral, referralSchema } from '../../src/contract/referral.ts';
import { toContractSpelling } from '../../src/contract/wire-aliases.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { afterFile } from '../support/after-file.ts';

export const SECRET = 'sandbox-secret';
export const AUTHORIZATION = basic(`${SECRET}:`);

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface TestSandbox extends Sandbox, SandboxCalls {}

export interface SandboxCalls {
  /** Answers with whatever came, unparsed; `headers` replace the right Authorization. */
  send(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, more?: SendOptions): Promise<HttpAnswer>;
  /** The parsed body of a GET that must be answered 200. */
  get(path: string): Promise<unknown>;
  /** One page of a list in the contract's spelling, read with its own schemas; `query` starts with a question mark. */
  referrals(query?: string): Promise<Page<Referral>>;
  affiliates(query?: string): Promise<Page<Affiliate>>;
  /** Answered only where the sandbox lists its commissions. */
  commissions(query?: string): Promise<Page<z.infer<typeof commissionSchema>>>;
  /** Every item of the filtered list, page by page; `query` without page and limit. */
  allReferrals(query?: string): Promise<Referral[]>;
  allAffiliates(query?: string): Promise<Affiliate[]>;
  allCommissions(query?: string): Promise<z.infer<typeof commissionSchema>[]>;
  /** Answered only where the sandbox serves payouts. */
  allPayouts(query?: string): Promise<z.infer<typeof payoutSchema>[]>;
  commission(id: string): Promise<z.infer<typeof commissionSchema>>;
  /** A PUT of a commission with a form body. */
  put(id: string, form: string): Promise<{ status: number; body: unknown }>;
}

export interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export type Page<T> = { readonly pagination: ListEnvelope['pagination']; readonly data: readonly T[] };

const SMALL = { seed: 7, affiliates: 60, referrals: 800 };

export function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** Returns a sandbox that is running, and closed when the file ends. */
export async function runSandbox(pool: Pool, options: Partial<SandboxOptions> = {}): Promise<TestSandbox> {
  const sandbox = await startSandbox(
    { pool, log: makeLogger('fatal') },
    {
      schema: 'sandbox',
      host: '127.0.0.1',
      port: 0,
      secret: SECRET,
      ...SMALL,
      rateLimit: null,
      faults: NO_FAULTS,
      live: null,
      reset: false,
      ...options,
    },
  );
  afterFile(() => sandbox.close());
  return { ...sandbox, ...callSandbox(sandbox.url, options.secret) };
}

/** Returns the calls of the program at that address. */
export function callSandbox(url: string, secret = SECRET): SandboxCalls {
  const authorization = basic(`${secret}:`);
  const agent = new Agent();
  afterFile(() => agent.close());
  const send: SandboxCalls['send'] = async (method, path, more = {}) => {
    const answer = await request(`${url}${path}`, {
      method,
      dispatcher: agent,
      headers: more.headers ?? { authorization },
      ...(more.body === undefined ? {} : { body: more.body }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  };
  const get = async (path: string): Promise<unknown> => {
    const answer = await send('GET', path);
    if (answer.status !== 200) throw new Error(`GET ${path} was answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text);
  };
  const list = async <T>(path: string, schema: z.ZodType<T>): Promise<Page<T>> => {
    const { pagination, data } = listEnvelopeSchema.parse(await get(path));
    return { pagination, data: data.map((item) => schema.parse(toContractSpelling(item))) };
  };
  const referrals = (query = '') => list(`/v1/referrals${query}`, referralSchema);
  const affiliates = (query = '') => list(`/v1/affiliates${query}`, affiliateSchema);
  const commissions = (query = '') => list(`/v1/commissions${query}`, commissionSchema);
  const payouts = (query = '') => list(`/v1/payouts${query}`, payoutSchema);
  return {
    send,
    get,
    referrals,
    affiliates,
    commissions,
    allReferrals: (query = '') => readAll((paging) => referrals(`?${query}&${paging}`)),
    allAffiliates: (query = '') => readAll((paging) => affiliates(`?${query}&${paging}`)),
    allCommissions: (query = '') => readAll((paging) => commissions(`?${query}&${paging}`)),
    allPayouts: (query = '') => readAll((paging) => payouts(`?${query}&${paging}`)),
    commission: async (id) => commissionSchema.parse(toContractSpelling(await get(`/v1/commissions/${id}`))),
    async put(id, form) {
      const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await send('PUT', `/v1/commissions/${id}`, { headers, body: form });
      return { status: answer.status, body: JSON.parse(answer.text) };
    },
  };
}

async function readAll<T>(read: (paging: string) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; ; page += 1) {
    const { pagination, data } = await read(`limit=100&page=${page}`);
    items.push(...data);
    if (pagination.next_page === null) return items;
  }
}

/** The names of an object's fields, sorted. */
export function fieldsOf(value: unknown): string[] {
  return Object.keys(value as object).sort();
}

/** The identifiers of a page's items, in their order. */
export function idsOf(page: Page<{ id: string }>): string[] {
  return page.data.map((item) => item.id);
}

/** The first row of what a statement finds. */
export async function oneRow<T extends pg.QueryResultRow>(pool: Pool, statement: string): Promise<T> {
  const { rows } = await pool.query<T>(statement);
  const [row] = rows;
  if (row === undefined) throw new Error(`no row for ${statement}`);
  return row;
}
