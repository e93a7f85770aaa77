// How fast the status page answers on a large mirror while the worker that serves it syncs without a pause, and what it
// costs that sync when somebody looks: a page that is open and follows along, and a scrape every few seconds.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { commissionId } from './invent-program.ts';
import { untilNothingIsPending } from './measure-commissions.ts';
import { type BenchDeps, programOf, syncOnce } from './measure-round.ts';
import { endChild } from './start-child.ts';
import { startCommand } from './start-command.ts';

export interface PageSizes {
  readonly referrals: number;
  readonly updates: number;
  /** How often each page is asked for. */
  readonly looks: number;
  /** How many spans of the sync are measured with somebody who looks, and as many without. */
  readonly spans: number;
  readonly spanSeconds: number;
}

const PAGES = ['/', '/runs', '/runs/1', '/payments', '/payments/1', '/payments/ledger', '/data', '/charts'];
const MOST_SECONDS = 0.2;
const LEAST_SHARE = 0.98;
const SCRAPE_EVERY_MS = 5_000;

export async function measurePage(deps: BenchDeps, sizes: PageSizes): Promise<void> {
  const { postgres, server, figures, say } = deps;
  const { referrals, updates, looks, spans, spanSeconds } = sizes;
  const of = `${referrals.toLocaleString('en')} referrals and ${updates.toLocaleString('en')} updates`;
  say(`the status page, on ${of}, beside a sync`);
  const { url } = await server.serve(programOf(referrals));
  const database = await postgres.createDatabase();
  await syncOnce(deps, database, url);
  await database.pool.query('vacuum (analyze)');
  await database.pool.query(
    `insert into commission_updates (commission_id, action, paid_at)
     select unnest($1::text[]), 'pay', '2026-10-05T12:00:00Z'`,
    [Array.from({ length: updates }, (_, number) => commissionId(number))],
  );
  const environment = {
    AFFILIATE_API_URL: url,
    AFFILIATE_API_SECRET: 'bench',
    DATABASE_URL: database.url,
    API_RATE_LIMIT: 'none',
    // Due again as soon as it has ended.
    SYNC_FULL_CRON: '* * * * * *',
    SYNC_DELTA_CRON: '',
    STATUS_PORT: '0',
  };
  const start = (command: string) =>
    startCommand(deps, [command], { environment, stdio: ['ignore', 'ignore', 'pipe'] });
  // The tables of the queue.
  await once(start('migrate'), 'exit');
  const worker = start('work');
  const page = await findPage(worker);
  await untilNothingIsPending(database, worker);
  for (const path of PAGES) {
    // What takes long is kept for some time: the first look is the one that waits for it.
    figures.add(`${path}, first look, of ${of}`, 's', await timeOf(page, path));
    const times: number[] = [];
    for (let look = 0; look < looks; look += 1) times.push(await timeOf(page, path));
    figures.add(`${path}, of ${of}`, 's', median(times), { most: MOST_SECONDS });
  }
  for (let span = 0; span < spans; span += 1) {
    const alone = await rowsPerSecond(database, spanSeconds);
    const over = new AbortController();
    const looking = look(page, over.signal);
    const watched = await rowsPerSecond(database, spanSeconds);
    over.abort();
    await looking;
    figures.add('speed of the sync beside somebody who looks', '×', watched / alone, { least: LEAST_SHARE });
  }
  await endChild(worker, 'SIGTERM');
  await database.drop();
}

/** Returns the address of the page, as the worker's log names it. */
async function findPage({ stderr }: ChildProcess): Promise<string> {
  const lines = createInterface(stderr as Readable);
  for await (const line of lines) {
    const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
    if (msg !== 'status.listening' || url === undefined) continue;
    // Read on: a full pipe would stop the worker.
    lines.on('line', () => {});
    (stderr as Readable).resume();
    return url;
  }
  throw new Error('the worker ended before it served its page');
}

/** As the script of an open page does. */
const LOOK_EVERY_MS = 2000;

async function timeOf(page: string, path: string): Promise<number> {
  const askedMs = performance.now();
  const answer = await fetch(`${page}${path}`);
  await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return (performance.now() - askedMs) / 1000;
}

async function rowsPerSecond({ pool }: BenchDatabase, seconds: number): Promise<number> {
  const read = async () => {
    const { rows } = await pool.query<{ rows: number; seconds: number }>(
      'select sum(rows_seen)::float8 as rows, extract(epoch from max(heartbeat_at))::float8 as seconds from sync_runs',
    );
    return rows[0] ?? { rows: 0, seconds: 0 };
  };
  const before = await read();
  await sleep(seconds * 1000);
  const after = await read();
  return (after.rows - before.rows) / (after.seconds - before.seconds);
}

/** Looks as a browser does that has the overview open, and as Prometheus does, until the signal aborts. */
async function look(page: string, signal: AbortSignal): Promise<void> {
  const follow = async () => {
    for (let before = ''; ; ) {
      const mark = await (await fetch(`${page}/live`, { signal })).text();
      if (mark !== before) await timeOf(page, '/');
      before = mark;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  };
  const scrape = async () => {
    for (;;) {
      await timeOf(page, '/metrics');
      await sleep(SCRAPE_EVERY_MS, undefined, { signal });
    }
  };
  const ends = await Promise.allSettled([follow(), scrape()]);
  for (const end of ends) {
    if (end.status === 'rejected' && !signal.aborted) throw end.reason;
  }
}
