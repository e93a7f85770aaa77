// Who gets in, and who does not: attempts over real HTTP, each with what it gets.

import { beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  type Asked,
  basic,
  expectGuardedHeaders,
  openStatusPage,
  type TestPage,
} from '../support/status-page.ts';

const PASSWORD = 'opens-the-page';
const PEOPLE = 'opens-with-people';

/** As its owner configured it, by name. */
const SETTINGS = {
  open: {},
  guarded: { password: PASSWORD, piiPassword: PEOPLE },
  people: { piiPassword: PEOPLE },
  below: { password: PASSWORD, basePath: '/affiliates' },
  metrics: { password: PASSWORD, metrics: 'open' },
} as const;
type Setting = keyof typeof SETTINGS;

let database: TestDatabase;
const pages = new Map<Setting, TestPage>();

beforeAll(async () => {
  database = await createTestDatabase();
  for (const [name, options] of Object.entries(SETTINGS)) {
    pages.set(name as Setting, await openStatusPage(database, {}, options));
  }
});

async function ask(setting: Setting, asked: Asked) {
  const page = pages.get(setting);
  if (page === undefined) throw new Error(`no page ${setting}`);
  return page.ask(asked);
}

type Attempt = readonly [setting: Setting, asked: Asked, status: number, says: string | RegExp];

const OVERVIEW = 'Freshness';

const ATTEMPTS: readonly Attempt[] = [
  ['open', {}, 200, OVERVIEW],
  ['open', { host: 'localhost:8080' }, 200, OVERVIEW],
  ['open', { host: '[::1]:99' }, 200, OVERVIEW],
  ['open', { host: 'evil.example' }, 421, 'STATUS_PASSWORD'],
  ['open', { host: '127.0.0.1.evil.example' }, 421, '127.0.0.1'],
  ['open', { host: 'localhost@evil.example' }, 421, ''],
  ['open', { path: '/metrics', host: 'evil.example' }, 421, ''],
  ['open', { host: 'evil.example', headers: { 'x-forwarded-host': 'localhost' } }, 421, ''],
  ['open', { password: 'anything' }, 200, OVERVIEW],
  ['open', { path: '/personal-data' }, 404, 'Not found'],

  ['guarded', {}, 401, 'Any user name will do'],
  ['guarded', { password: 'opens-the-door' }, 401, ''],
  ['guarded', { headers: { authorization: `Bearer ${PASSWORD}` } }, 401, ''],
  ['guarded', { path: `/?password=${PASSWORD}` }, 401, ''],
  ['guarded', { password: PASSWORD }, 200, OVERVIEW],
  ['guarded', { password: PASSWORD, host: 'mirror.example' }, 200, OVERVIEW],
  ['guarded', { password: PEOPLE }, 200, 'Personal data are shown'],
  ['guarded', { path: '/nothing' }, 401, ''],
  ['guarded', { path: '/nothing', password: PASSWORD }, 404, 'Not found'],
  ['guarded', { path: `/runs/${'a'.repeat(2000)}` }, 401, ''],
  ['guarded', { path: `/runs/${'a'.repeat(2000)}`, password: PASSWORD }, 404, ''],
  ['guarded', { path: '/live' }, 401, ''],
  ['guarded', { path: '/metrics' }, 401, ''],
  ['guarded', { path: '/metrics', password: PASSWORD }, 200, 'up 1'],
  ['guarded', { path: '/metrics?program=acme', password: PASSWORD }, 200, 'up acme'],
  ['guarded', { path: '/metrics?program=unknown', password: PASSWORD }, 404, 'no such program'],
  ['guarded', { path: '/personal-data', password: PASSWORD }, 401, 'STATUS_PII_PASSWORD'],
  ['guarded', { path: '/personal-data?back=/runs', password: PEOPLE }, 303, ''],
  ['metrics', { path: '/metrics' }, 200, 'up 1'],
  ['metrics', {}, 401, ''],

  ['people', {}, 200, 'Show personal data'],
  ['people', { password: 'a-wrong-one' }, 401, ''],
  ['people', { password: PEOPLE }, 200, 'Personal data are shown'],
  ['people', { path: '/personal-data' }, 401, ''],

  ['open', { method: 'POST' }, 405, 'GET and HEAD'],
  ['open', { method: 'HEAD' }, 200, /^$/],
  ['guarded', { method: 'HEAD' }, 401, /^$/],

  ['open', { path: '/../../etc/passwd' }, 404, 'Not found'],
  ['open', { path: '//evil.example/' }, 404, 'Not found'],
  ['open', { path: '/%ff%' }, 404, 'Not found'],
  ['open', { path: 'http://evil.example/' }, 404, 'Not found'],
  ['open', { path: '/?<script>alert(1)</script>' }, 200, /^(?![\s\S]*<script>alert)/],

  ['below', { path: '/', password: PASSWORD }, 404, 'Not found'],
  ['below', { path: '/affiliates/', password: PASSWORD }, 200, 'href="/affiliates/"'],
  ['below', { path: '/affiliates-old/', password: PASSWORD }, 404, ''],
  ['below', { path: '/affiliates/' }, 401, ''],
  ['below', { path: '/metrics?program=acme', password: PASSWORD }, 200, 'up acme'],
];

test.each(ATTEMPTS)('of the page %s, the request %j gets %i', async (setting, asked, status, says) => {
  const answer = await ask(setting, asked);
  expect(answer.status).toBe(status);
  if (typeof says === 'string') expect(answer.body).toContain(says);
  else expect(answer.body).toMatch(says);
  expectGuardedHeaders(answer);
  const all = `${JSON.stringify(answer.headers)}${answer.body.replaceAll('STATUS_PASSWORD', '')}`;
  expect(all).not.toContain(PASSWORD);
  expect(all).not.toContain(PEOPLE);
  expect(all).not.toContain(new URL(database.url).host);
  if (status === 401) expect(answer.headers['www-authenticate']).toContain('Basic realm="affiliate-mirror"');
  if (status === 405) expect(answer.headers['allow']).toBe('GET, HEAD');
  // Whoever is not let in learns nothing of what the site has.
  if ([401, 405, 421].includes(status)) expect(answer.body).not.toMatch(/<nav|schema mirror/);
});

const HEALTH: readonly (readonly [Setting, Asked, number])[] = [
  ['open', { path: '/healthz', host: 'pod.internal' }, 200],
  ['guarded', { path: '/readyz?verbose' }, 200],
  ['guarded', { path: '/healthz', password: 'a-wrong-one' }, 200],
  ['guarded', { path: '/healthz', method: 'POST' }, 405],
  ['below', { path: '/healthz' }, 200],
  ['below', { path: '/affiliates/readyz' }, 200],
];
test.each(HEALTH)('health of a page %s, asked by %j, is open to all: %i', async (setting, asked, status) => {
  const answer = await ask(setting, asked);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toContain('application/json');
});

test.each([
  ['/runs?x=1', '/runs?x=1'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
])('whoever comes back from the password for personal data to %s goes to %s', async (back, location) => {
  const path = `/personal-data?back=${encodeURIComponent(back)}`;
  const answer = await ask('guarded', { path, password: PEOPLE });
  expect(answer.headers['location']).toBe(location);
});

describe('wrong passwords', () => {
  const tooMany = async (page: TestPage, asked: Asked) => {
    for (let tried = 0; tried < 10; tried += 1) {
      expect((await page.ask(asked)).status).toBe(401);
    }
  };

  test('after ten of them, no other is looked at for a minute, the right one neither', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['guarded']);
    await tooMany(page, { password: 'a-wrong-one' });
    const answer = await page.ask({ password: PASSWORD });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
    expectGuardedHeaders(answer);
    expect((await page.ask({ path: '/healthz' })).status).toBe(200);
  });

  test('are counted by the address of the connection, whatever a header says', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['guarded']);
    for (let tried = 0; tried < 10; tried += 1) {
      await page.ask({ password: 'a-wrong-one', headers: { 'x-forwarded-for': `192.0.2.${tried}` } });
    }
    const headers = { 'x-forwarded-for': '192.0.2.77', authorization: basic(PASSWORD) };
    expect((await page.ask({ headers })).status).toBe(429);
  });

  test('for personal data are counted too, and leave the open page open', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['people']);
    await tooMany(page, { path: '/personal-data', password: 'a-wrong-one' });
    expect((await page.ask({ password: PEOPLE })).status).toBe(429);
    expect((await page.ask({})).status).toBe(200);
  });

  test('are not what a request without any is', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['guarded']);
    await tooMany(page, {});
    expect((await page.ask({ password: PASSWORD })).status).toBe(200);
  });
});
