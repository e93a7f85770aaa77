// A status page of a test's own, and requests to it as no browser and no fetch would send them.

import { request as send } from 'node:http';
import { expect } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { MONEY } from '../../src/contract/money.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { type Database, makeDatabase } from '../../src/db/database.ts';
import { startStatusPage } from '../../src/web/server.ts';
import type { StatusPage, StatusPageDeps, StatusPageOptions } from '../../src/web/status-page.ts';
import type { ViewDeps } from '../../src/web/view.ts';
import { VIEWS } from '../../src/web/views.ts';
import { afterFile } from './after-file.ts';
import type { TestDatabase } from './database.ts';
import { OPEN_PAGE } from './open-page.ts';

export interface Asked {
  readonly method?: string;
  /** Sent as it is. */
  readonly path?: string;
  /** Of the header Host. */
  readonly host?: string;
  /** Of Basic authentication, with some user name. */
  readonly password?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export type TestPage = StatusPage & { ask(asked?: Asked): Promise<Answer> };

/** Returns the page, closed when the file ends. Without a database, no page can be read. */
export async function openStatusPage(
  database: Pick<TestDatabase, 'pool'> | null,
  { findNext = () => [], ...deps }: Partial<StatusPageDeps> & Partial<Pick<ViewDeps, 'findNext'>> = {},
  options: Partial<StatusPageOptions> = {},
): Promise<TestPage> {
  const db = makeDatabase(database?.pool ?? makeUnreachable());
  const viewDeps = { ...viewDepsOf(db, 'mirror'), findNext };
  const page = await startStatusPage(
    {
      log: makeLogger('silent'),
      checks: {},
      programs: () => [{ name: null, viewDeps, condition: { state: 'serving' }, readFigures: () => null }],
      fileProblems: () => [],
      loadViews: async () => VIEWS,
      readMetrics: async (program) =>
        program === 'unknown'
          ? null
          : { contentType: 'text/plain; version=0.0.4', text: `up ${program ?? 1}\n` },
      registerBoard: null,
      ...deps,
    },
    { ...OPEN_PAGE, ...options },
  );
  afterFile(() => page.close());
  const { port } = new URL(page.url);
  return { ...page, ask: (asked = {}) => ask(Number(port), asked) };
}

/** Returns what the views of a test's program read with. */
export function viewDepsOf(db: Database, mirrorSchema: string): ViewDeps {
  return {
    db,
    mirrorSchema,
    money: MONEY.minor,
    maxAgeSeconds: 26 * 3600,
    readSpace: async () => null,
    rateLimit: { requests: 45, windowSeconds: 30 },
    findNext: () => [],
  };
}

function ask(port: number, { method = 'GET', path = '/', host, password, headers }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = send({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        host: host ?? `127.0.0.1:${port}`,
        ...(password !== undefined && { authorization: basic(password) }),
        ...headers,
      },
    });
    request.once('error', reject);
    request.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text) => (body += text));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    request.end();
  });
}

/** Returns the header for a password. */
export function basic(password: string): string {
  return `Basic ${Buffer.from(`somebody:${password}`).toString('base64')}`;
}

/** Checks what every answer of the site has, whatever it says. */
export function expectGuardedHeaders({ headers }: Answer): void {
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['strict-transport-security']).toBeUndefined();
}

/** Returns a pool of a database that is not there. */
function makeUnreachable(): Pool {
  const settings = { url: 'postgres://127.0.0.1:1/', schema: 'mirror', max: 1, applicationName: 'test' };
  return makePool({ log: makeLogger('silent') }, settings);
}
