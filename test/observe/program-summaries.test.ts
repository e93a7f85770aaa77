// The summaries of three real schemas: read once, then only while a viewer looks at them, and none holds up another.

import { setTimeout } from 'node:timers/promises';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { NoAnswer } from '../../src/base/within.ts';
import { makeDatabase } from '../../src/db/database.ts';
import {
  makeProgramSummaries,
  type ProgramSummaries,
  type SummarizedProgram,
  type SummaryTimings,
} from '../../src/observe/program-summaries.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { addNeighbour } from '../support/neighbours.ts';

const NAMES = ['acme', 'north', 'shop'] as const;
const QUICK: SummaryTimings = { everyMs: 100, lookedAtForMs: 300, patienceMs: 300, restMs: 20 };

let databases: readonly TestDatabase[];
let programs: SummarizedProgram[];
let readings = 0;

const countReadings = () => readings;

beforeAll(async () => {
  const first = await createTestDatabase();
  databases = [first, await addNeighbour(first, 'mirror_north'), await addNeighbour(first, 'mirror_shop')];
});

beforeEach(async () => {
  readings = 0;
  const schemas = ['mirror', 'mirror_north', 'mirror_shop'];
  programs = NAMES.map((name, index) => {
    const { pool } = databases[index] ?? {};
    if (pool === undefined) throw new Error(`no database of ${name}`);
    const connect = () => {
      readings += 1;
      return pool.connect();
    };
    return { name, db: makeDatabase({ ...pool, connect }), mirrorSchema: schemas[index] ?? '' };
  });
  for (const { pool } of databases) await pool.query('truncate sync_runs cascade');
});

/** Returns summaries that are kept until the test ends. */
function keep(): ProgramSummaries {
  const summaries = makeProgramSummaries(() => programs, { maxAgeSeconds: 3600 }, QUICK);
  const stop = new AbortController();
  const keeping = summaries.keep(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await keeping;
  });
  return summaries;
}

const failedRun = ({ pool }: TestDatabase) =>
  pool.query(
    `insert into sync_runs (resource, mode, state, finished_at, error_code, error)
     values ('referrals', 'full', 'failed', now(), 'API_UNREACHABLE', 'no answer')`,
  );

test('each is read once, and again only while a viewer looks', async () => {
  const summaries = keep();
  await expect.poll(countReadings).toBe(3);
  await setTimeout(500);
  expect(countReadings()).toBe(3);
  const stateOf = (index: number) => {
    const program = programs[index];
    return program && summaries.figuresOf(program)?.summary?.state;
  };
  expect([0, 1, 2].map(stateOf)).toEqual(['warning', 'warning', 'warning']);
  const north = databases[1];
  if (north !== undefined) await failedRun(north);
  await expect.poll(() => [0, 1, 2].map(stateOf)).toEqual(['warning', 'failing', 'warning']);
  await setTimeout(600);
  const settled = countReadings();
  await setTimeout(400);
  expect(countReadings()).toBe(settled);
});

test('the commands of a concern name the program; the age is that of the last reading', async () => {
  const summaries = keep();
  const shop = programs[2];
  if (shop === undefined) throw new Error('no shop');
  await expect.poll(() => summaries.figuresOf(shop)).not.toBeNull();
  await setTimeout(50);
  const { summary, ageSeconds } = summaries.figuresOf(shop) ?? {};
  expect(summary?.concern?.fix).toBe('affiliate-mirror sync --program shop');
  expect(ageSeconds).toBeGreaterThan(0);
  expect(ageSeconds).toBeLessThan(5);
});

test('one whose table a user has locked has its old summary, and holds up no other', async () => {
  const summaries = keep();
  const [acme, north] = programs;
  const [locked, other] = databases;
  if (acme === undefined || north === undefined || locked === undefined || other === undefined) {
    throw new Error('no programs');
  }
  await expect.poll(() => summaries.figuresOf(acme)?.summary?.state).toBe('warning');
  const client = await locked.pool.connect();
  onTestFinished(() => client.release(true));
  await client.query('begin; lock table sync_runs');
  await expect.poll(() => summaries.figuresOf(acme)?.error, { timeout: 3000 }).toBeInstanceOf(NoAnswer);
  await failedRun(other);
  await expect.poll(() => summaries.figuresOf(north)?.summary?.state).toBe('failing');
  const late = summaries.figuresOf(acme);
  expect(late?.summary?.state).toBe('warning');
  expect(late?.ageSeconds).toBeGreaterThan(0.3);
  await client.query('rollback');
  await expect.poll(() => summaries.figuresOf(acme)?.error).toBeNull();
});

test('one that comes is read at once, and one without tables has an error and no summary', async () => {
  const summaries = keep();
  await expect.poll(countReadings).toBe(3);
  const [first] = databases;
  if (first === undefined) throw new Error('no database');
  const added = { name: 'new', db: first.db.withSchema('mirror'), mirrorSchema: 'mirror_nowhere' };
  programs.push(added);
  await expect.poll(() => summaries.figuresOf(added)).toMatchObject({ summary: null, ageSeconds: null });
  expect(summaries.figuresOf(added)?.error).not.toBeNull();
});
