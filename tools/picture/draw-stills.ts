// `npm run stills`: runs the demo from nothing, makes its mirror look as one that has been at work for weeks, and saves
// what Debian's chromium shows of the status page as docs/images/page-*.png, the pictures in docs/status-page.md.

import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { makeLogger } from '../../src/base/log.ts';
import { listUpcoming } from '../../src/cli/worker/upcoming.ts';
import { MONEY } from '../../src/contract/money.ts';
import { makePool } from '../../src/db/connect/pool.ts';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { makeDatabase } from '../../src/db/database.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { startStatusPage } from '../../src/web/server.ts';
import type { ViewDeps } from '../../src/web/view.ts';
import { VIEWS } from '../../src/web/views.ts';
import { makeDataDir, removeDataDir } from '../../test/support/embedded-directories.ts';
import { OPEN_PAGE } from '../../test/support/open-page.ts';
import { fillConcerns, fillWell } from './fill-stills.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const IMAGES = new URL('../../docs/images/', import.meta.url);
const SCHEMA = 'mirror';
const GIGABYTE = 1e9;
/** A longer page ends here. Units: pixels of CSS. */
const MOST_HEIGHT = 880;
/** A file of the repository is no larger. */
const MOST_BYTES = 150_000;

interface Still {
  readonly name: string;
  readonly path: string;
  readonly look?: BrowserContextOptions;
}

const WIDE: BrowserContextOptions = { viewport: { width: 1000, height: 700 }, colorScheme: 'light' };

const WELL: readonly Still[] = [
  { name: 'page-overview', path: '/' },
  { name: 'page-overview-dark', path: '/', look: { ...WIDE, colorScheme: 'dark' } },
  { name: 'page-runs', path: '/runs' },
  { name: 'page-data', path: '/data#growth' },
  { name: 'page-charts', path: '/charts?days=90' },
];

const NOT_WELL: readonly Still[] = [
  { name: 'page-overview-concerns', path: '/' },
  {
    name: 'page-overview-phone',
    path: '/',
    look: { viewport: { width: 360, height: 700 }, colorScheme: 'light' },
  },
  { name: 'page-run', path: '/runs/partial' },
  { name: 'page-payments', path: '/payments' },
  { name: 'page-ledger', path: '/payments/ledger' },
];

const log = makeLogger('silent');
const directory = await makeDataDir();
try {
  await runDemo(directory);
  const postgres = await openEmbeddedPostgres({ log }, { dataDir: directory });
  const pool = makePool({ log }, { url: postgres.url, schema: SCHEMA, max: 4, applicationName: 'stills' });
  const page = await servePage(pool);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox'],
  });
  try {
    await mkdir(IMAGES, { recursive: true });
    await fillWell(pool);
    for (const still of WELL) await take(browser, page.url, still);
    await fillConcerns(pool);
    const { rows } = await pool.query(
      `select id from sync_runs where state = 'partial' order by id desc limit 1`,
    );
    for (const still of NOT_WELL) {
      await take(browser, page.url, { ...still, path: still.path.replace('partial', rows[0]?.id) });
    }
  } finally {
    await browser.close();
    await page.close();
    await pool.end();
    await postgres.stop();
  }
} finally {
  await removeDataDir(directory);
}

/** Throws: Error with what the demo said where it failed. */
async function runDemo(dataDir: string): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'demo', '--once'], {
    cwd: dataDir,
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, STATUS_PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const stderr = await buffer(child.stderr);
  if ((await code) !== 0) throw new Error(`the demo failed:\n${stderr}`);
}

function servePage(pool: Pool) {
  const viewDeps: ViewDeps = {
    db: makeDatabase(pool),
    mirrorSchema: SCHEMA,
    money: MONEY.minor,
    maxAgeSeconds: 26 * 3600,
    readSpace: async () => ({ source: 'limit', limitBytes: 2 * GIGABYTE }) as const,
    rateLimit: { requests: 45, windowSeconds: 30 },
    findNext: (nowMs) =>
      listUpcoming(
        {
          schedules: { full: '0 2 * * *', delta: '*/15 * * * *', timezone: 'Europe/Berlin' },
          process: { scheduledExports: null },
        },
        nowMs,
      ),
  };
  return startStatusPage(
    {
      log,
      checks: {},
      programs: () => [{ name: null, viewDeps, condition: { state: 'serving' }, readFigures: () => null }],
      fileProblems: () => [],
      loadViews: async () => VIEWS,
      readMetrics: null,
      registerBoard: null,
    },
    OPEN_PAGE,
  );
}

async function take(browser: Browser, url: string, { name, path, look = WIDE }: Still): Promise<void> {
  const context = await browser.newContext(look);
  const page = await context.newPage();
  await page.goto(url + path, { waitUntil: 'load' });
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  const { width = 1000 } = look.viewport ?? {};
  let shown = Math.min(height, MOST_HEIGHT);
  await page.setViewportSize({ width, height: shown });
  let picture = await page.screenshot({ animations: 'disabled' });
  while (picture.length > MOST_BYTES) {
    shown -= 20;
    await page.setViewportSize({ width, height: shown });
    picture = await page.screenshot({ animations: 'disabled' });
  }
  await writeFile(new URL(`${name}.png`, IMAGES), picture);
  await context.close();
}
