// The commands of many programs, and the page that lists them: each beside the time of one program.

import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BenchDatabase } from './bench-database.ts';
import { median } from './figures.ts';
import { type ListedFleet, listFleet } from './fleet-programs.ts';
import { startFleetWorker } from './fleet-worker.ts';
import { timeOf } from './measure-page.ts';
import type { BenchDeps } from './measure-round.ts';
import { startCommand } from './start-command.ts';

/** In seconds. */
export interface TimesOfOne {
  readonly status: number;
  readonly page: number;
}

const PAGE_REQUESTS = 11;
const DAY_MS = 86_400_000;
const MOST = { fromNothing: 90, nothingToDo: 3, status: 2, page: 0.5 };

/** Measures `migrate` of all, and of the first. Returns a database that holds all, empty. */
export async function measureMigrate(
  deps: BenchDeps,
  fleet: ListedFleet,
): Promise<{ database: BenchDatabase; one: TimesOfOne }> {
  const { postgres, figures } = deps;
  const programs = fleet.names.length;
  const first = { ...fleet, names: fleet.names.slice(0, 1) };
  const single = await postgres.createDatabase();
  const database = await postgres.createDatabase();
  for (const [time, most] of [
    ['from nothing', MOST.fromNothing],
    ['with nothing to do', MOST.nothingToDo],
  ] as const) {
    const one = await timeCommand(deps, 'migrate', first, single);
    const all = await timeCommand(deps, 'migrate', fleet, database);
    figures.add(`migrate of ${programs} programs ${time}`, 's', all, { most });
    figures.add(`migrate of ${programs} programs ${time} ÷ that of one`, '×', all / one);
  }
  const status = await timeCommand(deps, 'status', first, single);
  const worker = startFleetWorker(deps, await environmentOf(deps, first, single));
  await worker.untilServed(1);
  const page = await timePage(await worker.page);
  await worker.stop();
  await single.drop();
  return { database, one: { status, page } };
}

/** Measures `status` of all, and the page of the worker that serves them. */
export async function measureLists(
  deps: BenchDeps,
  fleet: ListedFleet,
  { label, page, database, one }: { label: string; page: string; database: BenchDatabase; one: TimesOfOne },
): Promise<void> {
  const add = (name: string, all: number, ofOne: number, most: number) => {
    deps.figures.add(`${label}, at rest: ${name}`, 's', all, { most });
    deps.figures.add(`${label}, at rest: ${name} ÷ that of one`, '×', all / ofOne);
  };
  add('page of all programs', await timePage(page), one.page, MOST.page);
  add('status', await timeCommand(deps, 'status', fleet, database), one.status, MOST.status);
}

/** Returns how long the command took, in seconds. Throws: an Error if it does not end with exit code 0. */
async function timeCommand(
  deps: BenchDeps,
  command: string,
  fleet: ListedFleet,
  database: BenchDatabase,
): Promise<number> {
  const environment = await environmentOf(deps, fleet, database);
  const beganMs = performance.now();
  const child = startCommand(deps, [command], { environment, stdio: ['ignore', 'ignore', 'pipe'] });
  const [[code], said] = await Promise.all([once(child, 'exit'), text(child.stderr as Readable)]);
  if (code !== 0) throw new Error(`${command} ended with code ${code}:\n${said}`);
  return (performance.now() - beganMs) / 1000;
}

/** No program is due: that would be in a year. */
async function environmentOf({ cleanup }: BenchDeps, fleet: ListedFleet, { url }: BenchDatabase) {
  const listed = await listFleet(cleanup, fleet, new Date(Date.now() - DAY_MS));
  return { ...listed, DATABASE_URL: url };
}

async function timePage(page: string): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request < PAGE_REQUESTS; request += 1) times.push(await timeOf(page, '/'));
  return median(times);
}
