// How fast the status page answers on a large mirror while the worker that serves it syncs without a pause, beside a
// statement that counts the largest table at the same time.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
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
}

const PAGES = ['/', '/runs', '/runs/1', '/payments', '/payments/1', '/payments/ledger', '/data', '/charts'];
/** Times the baseline: a page reads no large table whole, or seldom. */
const MOST_COUNTS = 2;

export async function measurePage(deps: BenchDeps, sizes: PageSizes): Promise<void> {
  const { postgres, server, figures, say } = deps;
  const { referrals, updates, looks } = sizes;
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
    const counts: number[] = [];
    for (let look = 0; look < looks; look += 1) {
      times.push(await timeOf(page, path));
      counts.push(await timeOfCount(database));
    }
    figures.add(`${path}, of ${of}`, 's', median(times));
    figures.add(`${path} ÷ counting the referrals`, '×', median(times) / median(counts), {
      most: MOST_COUNTS,
    });
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

export async function timeOf(page: string, path: string): Promise<number> {
  const askedMs = performance.now();
  const answer = await fetch(`${page}${path}`);
  await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return (performance.now() - askedMs) / 1000;
}

async function timeOfCount({ pool }: BenchDatabase): Promise<number> {
  const beganMs = performance.now();
  await pool.query('select count(*) from referrals');
  return (performance.now() - beganMs) / 1000;
}
