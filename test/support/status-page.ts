// A status page of a test's own, and requests to it as no browser and no fetch would send them.

import { request as send } from 'node:http';
import { expect } from 'vitest';
import { makeDatabase } from '../../src/db/database.ts';
import { makeLogger } from '../../src/log.ts';
import type { DiskSpace } from '../../src/reports/read-growth.ts';
import { makePages } from '../../src/web/pages.ts';
import { startStatusPage } from '../../src/web/server.ts';
import type { StatusPage, StatusPageDeps, StatusPageOptions } from '../../src/web/status-page.ts';
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

/** Returns the page, closed when the file ends. Without a database, it is one that never comes up. */
export async function openStatusPage(
  database: TestDatabase | null,
  deps: Partial<StatusPageDeps> = {},
  options: Partial<StatusPageOptions> = {},
  space: DiskSpace | null = null,
): Promise<TestPage> {
  const pageDeps =
    database === null
      ? null
      : {
          db: makeDatabase(database.pool),
          mirrorSchema: 'mirror',
          amountUnit: 'minor' as const,
          maxAgeSeconds: 26 * 3600,
          readSpace: async () => space,
        };
  const page = await startStatusPage(
    {
      log: makeLogger('silent'),
      checks: {},
      pageDeps: () => pageDeps,
      loadPages: async () =>
        makePages({ rateLimit: { requests: 45, windowSeconds: 30 }, findNext: () => [] }),
      readMetrics: async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
      registerBoard: null,
      ...deps,
    },
    { ...OPEN_PAGE, ...options },
  );
  afterFile(() => page.close());
  const { port } = new URL(page.url);
  return { ...page, ask: (asked = {}) => ask(Number(port), asked) };
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
