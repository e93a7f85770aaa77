// The list of made-up programs, as the server serves it: which come first, what each says, and what it never says.

import { describe, expect, test } from 'vitest';
import type { StatusPageDeps } from '../../src/web/status-page.ts';
import { expectGuardedHeaders, openStatusPage, type TestPage } from '../support/status-page.ts';
import { IN_EVERY_STATE, type MadeUp, makeUp } from './made-up-programs.ts';
import { linksOf, sectionOf } from './views/visit.ts';

function open(
  programs: Readonly<Record<string, MadeUp>>,
  deps: Partial<StatusPageDeps> = {},
  options = {},
): Promise<TestPage> {
  const made = Object.entries(programs).map(([name, given]) => makeUp(name, given));
  return openStatusPage(null, { programs: () => made, ...deps }, options);
}

async function list(page: TestPage, path = '/') {
  const answer = await page.ask({ path });
  expect(answer.status).toBe(200);
  expectGuardedHeaders(answer);
  return { ...answer, rows: sectionOf(answer.body, 'programs').rows };
}

describe('programs in every state', async () => {
  const page = await open(IN_EVERY_STATE);

  test('the worst come first, each with its reason, age and payments', async () => {
    const { rows, body } = await list(page);
    expect(rows).toEqual([
      ['paused-early', '■ paused', 'its schema is not migrated: run affiliate-mirror migrate', '–', '–', '–'],
      ['north-outdoor', '■ paused', 'the API refuses the secret', '60 minutes ago', '0', '12 seconds ago'],
      ['locked', '✕ unread', 'The database does not answer', '66 minutes ago', '0', '6 minutes ago'],
      [
        'acme',
        '✕ failing',
        'the last sync of referrals failed (API_UNREACHABLE), since 2026-01-02 00:00:00Z; 1 more thing',
        '60 minutes ago',
        '0',
        '12 seconds ago',
      ],
      ['late-shop', '✕ failing', expect.stringContaining('stale'), '2 days ago', '0', '12 seconds ago'],
      [
        'payer',
        '✕ failing',
        '2 payment requests failed, since 2026-01-02 00:00:00Z',
        '60 minutes ago',
        '1,200 (2 to look at)',
        '12 seconds ago',
      ],
      ['throttled', '▲ warning', expect.stringContaining('pause'), '60 minutes ago', '0', '12 seconds ago'],
      ['newcomer', '● starting', '', '–', '–', '–'],
      ['syncing', '✓ ok', 'being synced: referrals', '60 minutes ago', '0', '12 seconds ago'],
    ]);
    expect(body).toContain('Not well: 6 of 9 programs.');
  });

  test('says nothing of a person, of a host, or of an error', async () => {
    const { body } = await list(page);
    expect(body).not.toMatch(/ada|example\.com|55P03/i);
  });

  test.each([
    ['/?q=SHOP', ['late-shop']],
    ['/?q=mirror_north', ['north-outdoor']],
    ['/?q=API_UNREACHABLE', ['acme']],
    ['/?state=paused', ['paused-early', 'north-outdoor']],
    ['/?state=failing&q=a', ['acme', 'late-shop', 'payer']],
    ['/?state=no-such', Object.keys(IN_EVERY_STATE)],
  ])('%s finds %j', async (path, found) => {
    const { rows } = await list(page, path);
    expect(rows.map(([name]) => name).toSorted()).toEqual(found.toSorted());
  });

  test('a search that finds nothing says so, and what was asked for is text', async () => {
    const { body } = await page.ask({ path: '/?q=%22%3E%3Cscript%3Ealert(1)' });
    expect(body).toContain('No program fits.');
    expect(body).toContain('value="&quot;&gt;&lt;script&gt;alert(1)"');
  });

  test('a program that the file does not list is not found, in the frame of the list', async () => {
    for (const path of ['/p/nowhere/', '/p/nowhere/runs', '/p/Acme/', '/p/']) {
      const { status, body } = await page.ask({ path });
      expect(status, path).toBe(404);
      expect(linksOf(body)).toContain('/');
    }
    expect((await page.ask({ path: '/p/nowhere/live' })).status).toBe(404);
    expect((await page.ask({ path: '/runs' })).status).toBe(404);
  });
});

test('all well', async () => {
  const { body } = await list(await open({ one: {}, two: {} }));
  expect(body).toContain('All is well: 2 programs.');
  expect(body).not.toContain('PROGRAMS_FILE');
});

test('a file that was refused is a banner, with each problem as text', async () => {
  const problems = ['programs.yaml:3:5 program acme: <b> is no variable', 'programs.yaml:9:1 two'];
  const { body } = await list(await open({ one: {} }, { fileProblems: () => problems }));
  const banner = sectionOf(body, 'file').text;
  expect(banner).toContain('PROGRAMS_FILE was refused');
  expect(banner).toContain('program acme: <b> is no variable');
  expect(banner).toContain('programs.yaml:9:1 two');
});

test('links stay below the path of a reverse proxy, and lead to the program and to its states', async () => {
  const page = await open({ acme: {} }, {}, { basePath: '/proxy' });
  const { body } = await list(page, '/proxy/');
  const links = linksOf(body).filter((link) => !link.startsWith('#'));
  expect(links).toContain('/proxy/p/acme/');
  expect(links).toContain('/proxy/?state=ok');
  expect(links.filter((link) => !link.startsWith('/proxy/'))).toEqual([]);
  expect(body).toContain('action="/proxy/"');
  expect(body).toContain('src="/proxy/live.js"');
});

test('programs that come and go are there, and gone, at the next request', async () => {
  const programs = [makeUp('one')];
  const page = await openStatusPage(null, { programs: () => programs });
  expect((await list(page)).rows).toHaveLength(1);
  programs.push(makeUp('two'));
  expect((await list(page)).rows.map(([name]) => name)).toEqual(['one', 'two']);
  programs.shift();
  expect((await list(page)).rows.map(([name]) => name)).toEqual(['two']);
});

test('the mark of an open list changes with what it says, and not with ages', async () => {
  let shown = makeUp('one', { figures: { ageSeconds: 1 } });
  let problems: string[] = [];
  const page = await openStatusPage(null, { programs: () => [shown], fileProblems: () => problems });
  const marks = [(await page.ask({ path: '/live' })).body];
  shown = makeUp('one', { figures: { ageSeconds: 9 } });
  expect((await page.ask({ path: '/live' })).body).toBe(marks[0]);
  shown = makeUp('one', { condition: { state: 'paused', reason: 'the API refuses the secret' } });
  marks.push((await page.ask({ path: '/live' })).body);
  shown = makeUp('one', { figures: { error: new Error('locked') } });
  marks.push((await page.ask({ path: '/live' })).body);
  shown = makeUp('one', { health: { differences: 2 } });
  marks.push((await page.ask({ path: '/live' })).body);
  problems = ['line 3'];
  marks.push((await page.ask({ path: '/live' })).body);
  expect(new Set(marks).size).toBe(5);
});

test('a hundred programs take no longer than half a second', async () => {
  const hundred = Array.from({ length: 100 }, (_, number) => [`client-${number}`, {}] as const);
  const page = await open(Object.fromEntries(hundred));
  await list(page);
  const beganMs = performance.now();
  const { rows } = await list(page);
  expect(rows).toHaveLength(100);
  expect(performance.now() - beganMs).toBeLessThan(500);
});

test('the metrics of one program are asked for by its name', async () => {
  const readMetrics = async (program?: string) =>
    program === 'gone' ? null : { contentType: 'text/plain', text: `of ${program ?? 'all'}` };
  const page = await open({ acme: {} }, { readMetrics }, { basePath: '/proxy' });
  expect((await page.ask({ path: '/metrics?program=acme' })).body).toBe('of acme');
  expect((await page.ask({ path: '/proxy/metrics?program=acme' })).body).toBe('of acme');
  expect((await page.ask({ path: '/metrics' })).body).toBe('of all');
  expect((await page.ask({ path: '/metrics?program=gone' })).status).toBe(404);
});
