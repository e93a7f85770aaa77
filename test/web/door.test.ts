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
  'without a password': {},
  'with a password': { password: PASSWORD, piiPassword: PEOPLE },
  'with one for personal data alone': { piiPassword: PEOPLE },
  'below a path': { password: PASSWORD, basePath: '/affiliates' },
  'with open metrics': { password: PASSWORD, metrics: 'open' },
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

type Attempt = readonly [what: string, setting: Setting, asked: Asked, status: number, says: string | RegExp];

const OVERVIEW = 'How fresh the mirror is';

const ATTEMPTS: readonly Attempt[] = [
  ['from this machine', 'without a password', {}, 200, OVERVIEW],
  ['under the name localhost', 'without a password', { host: 'localhost:8080' }, 200, OVERVIEW],
  ['under the name LOCALHOST, without a port', 'without a password', { host: 'LOCALHOST' }, 200, OVERVIEW],
  ['under an IPv6 address of this machine', 'without a password', { host: '[::1]:99' }, 200, OVERVIEW],
  ['under the name of another site', 'without a password', { host: 'evil.example' }, 421, 'STATUS_PASSWORD'],
  [
    'under a name that begins as ours',
    'without a password',
    { host: '127.0.0.1.evil.example' },
    421,
    '127.0.0.1',
  ],
  [
    'under our name, as the user of another',
    'without a password',
    { host: 'localhost@evil.example' },
    421,
    '',
  ],
  ['under an address of a network', 'without a password', { host: '192.168.1.4:8080' }, 421, ''],
  [
    'of live updates, under the name of another site',
    'without a password',
    { path: '/live', host: 'evil.example' },
    421,
    '',
  ],
  [
    'of metrics, under the name of another site',
    'without a password',
    { path: '/metrics', host: 'evil.example' },
    421,
    '',
  ],
  [
    'with X-Forwarded-Host for a name of ours',
    'without a password',
    { host: 'evil.example', headers: { 'x-forwarded-host': 'localhost' } },
    421,
    '',
  ],
  ['with a password, where none is asked for', 'without a password', { password: 'anything' }, 200, OVERVIEW],
  [
    'of personal data, where nobody may see any',
    'without a password',
    { path: '/personal-data' },
    404,
    'Not found',
  ],

  ['without the password', 'with a password', {}, 401, 'Any user name will do'],
  ['with a wrong password', 'with a password', { password: 'opens-the-door' }, 401, ''],
  ['with an empty password', 'with a password', { password: '' }, 401, ''],
  ['with the right password, and more', 'with a password', { password: `${PASSWORD} ` }, 401, ''],
  ['with another scheme', 'with a password', { headers: { authorization: `Bearer ${PASSWORD}` } }, 401, ''],
  ['with what is no Base64', 'with a password', { headers: { authorization: 'Basic ???' } }, 401, ''],
  ['with the password in the query', 'with a password', { path: `/?password=${PASSWORD}` }, 401, ''],
  ['with the right password', 'with a password', { password: PASSWORD }, 200, OVERVIEW],
  [
    'with the right password, under any name',
    'with a password',
    { password: PASSWORD, host: 'mirror.example' },
    200,
    OVERVIEW,
  ],
  [
    'with the password for personal data',
    'with a password',
    { password: PEOPLE },
    200,
    'Personal data are shown',
  ],
  ['of a page that does not exist, without the password', 'with a password', { path: '/nothing' }, 401, ''],
  [
    'of a page that does not exist, with it',
    'with a password',
    { path: '/nothing', password: PASSWORD },
    404,
    'Not found',
  ],
  [
    'of a page with a name without end, without the password',
    'with a password',
    { path: `/runs/${'a'.repeat(2000)}` },
    401,
    '',
  ],
  [
    'of a page with a name without end, with it',
    'with a password',
    { path: `/runs/${'a'.repeat(2000)}`, password: PASSWORD },
    404,
    '',
  ],
  ['of the script, without the password', 'with a password', { path: '/live.js' }, 401, ''],
  ['of live updates, without the password', 'with a password', { path: '/live' }, 401, ''],
  ['of metrics, without the password', 'with a password', { path: '/metrics' }, 401, ''],
  ['of metrics, with it', 'with a password', { path: '/metrics', password: PASSWORD }, 200, 'up 1'],
  [
    'of personal data, with the password of the page alone',
    'with a password',
    { path: '/personal-data', password: PASSWORD },
    401,
    'STATUS_PII_PASSWORD',
  ],
  [
    'of personal data, with their password',
    'with a password',
    { path: '/personal-data?back=/runs', password: PEOPLE },
    303,
    '',
  ],
  ['of metrics that are open, without the password', 'with open metrics', { path: '/metrics' }, 200, 'up 1'],
  ['of the page beside open metrics', 'with open metrics', {}, 401, ''],

  ['without their password', 'with one for personal data alone', {}, 200, 'Show personal data'],
  ['with a wrong one', 'with one for personal data alone', { password: 'a-wrong-one' }, 401, ''],
  [
    'with their password',
    'with one for personal data alone',
    { password: PEOPLE },
    200,
    'Personal data are shown',
  ],
  ['of personal data, without it', 'with one for personal data alone', { path: '/personal-data' }, 401, ''],

  ['by POST', 'without a password', { method: 'POST' }, 405, 'GET and HEAD'],
  ['by DELETE of what does not exist', 'without a password', { method: 'DELETE', path: '/runs/1' }, 405, ''],
  ['by PROPFIND', 'without a password', { method: 'PROPFIND' }, 405, ''],
  ['by OPTIONS', 'without a password', { method: 'OPTIONS' }, 405, ''],
  ['by HEAD', 'without a password', { method: 'HEAD' }, 200, /^$/],
  ['by HEAD, without the password', 'with a password', { method: 'HEAD' }, 401, /^$/],

  ['of a file above, with dots', 'without a password', { path: '/../../etc/passwd' }, 404, 'Not found'],
  [
    'of a file above, with hidden dots',
    'without a password',
    { path: '/..%2f..%2fetc%2fpasswd' },
    404,
    'Not found',
  ],
  ['with two slashes', 'without a password', { path: '//evil.example/' }, 404, 'Not found'],
  ['with a backslash', 'without a password', { path: '/\\evil.example' }, 404, 'Not found'],
  ['with what cannot be decoded', 'without a password', { path: '/%ff%' }, 404, 'Not found'],
  ['with a whole address', 'without a password', { path: 'http://evil.example/' }, 404, 'Not found'],
  [
    'with a script in the query',
    'without a password',
    { path: '/?<script>alert(1)</script>' },
    200,
    /^(?![\s\S]*<script>alert)/,
  ],
  ['with a null byte', 'without a password', { path: '/%00' }, 404, 'Not found'],

  ['beside the path', 'below a path', { path: '/', password: PASSWORD }, 404, 'Not found'],
  [
    'below the path',
    'below a path',
    { path: '/affiliates/', password: PASSWORD },
    200,
    'href="/affiliates/"',
  ],
  ['of the path itself', 'below a path', { path: '/affiliates', password: PASSWORD }, 200, OVERVIEW],
  [
    'of what only begins as the path',
    'below a path',
    { path: '/affiliates-old/', password: PASSWORD },
    404,
    '',
  ],
  ['below the path, without the password', 'below a path', { path: '/affiliates/' }, 401, ''],
  ['of metrics past the proxy', 'below a path', { path: '/metrics', password: PASSWORD }, 200, 'up 1'],
];

test.each(ATTEMPTS)('a request %s, of a page %s: %j gets %i', async (_what, setting, asked, status, says) => {
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
  // Whoever is not let in learns nothing of what is behind the door.
  if ([401, 405, 421].includes(status)) expect(answer.body).not.toMatch(/<nav|schema mirror/);
});

const HEALTH: readonly (readonly [Setting, Asked, number])[] = [
  ['without a password', { path: '/healthz', host: 'pod.internal' }, 200],
  ['with a password', { path: '/healthz' }, 200],
  ['with a password', { path: '/readyz?verbose' }, 200],
  ['with a password', { path: '/healthz', password: 'a-wrong-one' }, 200],
  ['with a password', { path: '/healthz', method: 'HEAD' }, 200],
  ['with a password', { path: '/healthz', method: 'POST' }, 405],
  ['below a path', { path: '/healthz' }, 200],
  ['below a path', { path: '/affiliates/readyz' }, 200],
];
test.each(HEALTH)('health of a page %s, asked by %j, is open to all: %i', async (setting, asked, status) => {
  const answer = await ask(setting, asked);
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toContain('application/json');
});

test.each([
  ['/runs?x=1', '/runs?x=1'],
  ['//evil.example', '/'],
  ['/.//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
])('whoever comes back from the password for personal data to %s goes to %s', async (back, location) => {
  const path = `/personal-data?back=${encodeURIComponent(back)}`;
  const answer = await ask('with a password', { path, password: PEOPLE });
  expect(answer.headers['location']).toBe(location);
});

describe('wrong passwords', () => {
  const tooMany = async (page: TestPage, asked: Asked) => {
    for (let tried = 0; tried < 10; tried += 1) {
      expect((await page.ask(asked)).status).toBe(401);
    }
  };

  test('after ten of them, no other is looked at for a minute, the right one neither', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['with a password']);
    await tooMany(page, { password: 'a-wrong-one' });
    const answer = await page.ask({ password: PASSWORD });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
    expectGuardedHeaders(answer);
    expect((await page.ask({ path: '/healthz' })).status).toBe(200);
  });

  test('are counted by the address of the connection, whatever a header says', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['with a password']);
    for (let tried = 0; tried < 10; tried += 1) {
      await page.ask({ password: 'a-wrong-one', headers: { 'x-forwarded-for': `192.0.2.${tried}` } });
    }
    const headers = { 'x-forwarded-for': '192.0.2.77', authorization: basic(PASSWORD) };
    expect((await page.ask({ headers })).status).toBe(429);
  });

  test('for personal data are counted too, and leave the open page open', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['with one for personal data alone']);
    await tooMany(page, { path: '/personal-data', password: 'a-wrong-one' });
    expect((await page.ask({ password: PEOPLE })).status).toBe(429);
    expect((await page.ask({})).status).toBe(200);
  });

  test('are not what a request without any is', async () => {
    const page = await openStatusPage(database, {}, SETTINGS['with a password']);
    await tooMany(page, {});
    expect((await page.ask({ password: PASSWORD })).status).toBe(200);
  });
});
