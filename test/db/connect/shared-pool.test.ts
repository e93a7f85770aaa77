// Programs on one pool: each sees its own tables, and none keeps the connections from the others.

import fc from 'fast-check';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { makeDatabasePool } from '../../../src/db/connect/pool.ts';
import type { SharedPool } from '../../../src/db/connect/shared-pool.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const PROGRAMS = ['acme', 'beta', 'gamma'];
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  for (const name of PROGRAMS) {
    await database.pool.query(`create schema ${name}`);
    await database.pool.query(`create table ${name}.owner as select '${name}' as name`);
  }
});

function open(max: number, isForMany = true): SharedPool {
  const settings = { url: database.url, max, applicationName: 'shared-pool-test', isForMany };
  const shared = makeDatabasePool({ log: makeLogger('silent') }, settings);
  onTestFinished(() => shared.base.end());
  return shared;
}

test('every statement works in the schema of its program, whichever connection it gets and loses', async () => {
  const shared = open(3);
  const step = fc.record({ program: fc.constantFrom(...PROGRAMS), isBroken: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
      const found = await Promise.all(
        steps.map(async ({ program, isBroken }) => {
          const client = await shared.of(program).connect();
          const { rows } = await client.query<{ name: string }>('select name from owner');
          client.release(isBroken);
          return rows[0]?.name;
        }),
      );
      expect(found).toEqual(steps.map(({ program }) => program));
    }),
    { numRuns: 10 },
  );
  expect(shared.busy.size).toBe(0);
});

test('outside of any program no table is found by its name', async () => {
  const shared = open(1);
  await shared.of('acme').query('select name from owner');
  await expect(shared.base.query('select name from owner')).rejects.toThrow('does not exist');
});

test('a connection whose search path could not be set is closed, and serves no other program', async () => {
  const shared = open(1);
  const acme = await shared.of('acme').connect();
  // The next statement on the connection finds it lost.
  await acme.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
  acme.release();
  const ask = () => shared.of('beta').query('select name from owner');
  // Whether the loss is known by now depends on the network.
  await ask().catch(() => undefined);
  expect((await ask()).rows).toEqual([{ name: 'beta' }]);
  expect(shared.busy.size).toBe(0);
});

test('a program whose table is locked takes three connections, and the others go on', async () => {
  const shared = open(4);
  const locker = await database.pool.connect();
  await locker.query('begin');
  await locker.query('lock table acme.owner');
  const waiting = Array.from({ length: 10 }, () => shared.of('acme').query('select from owner'));
  await expect.poll(() => shared.busy.size).toBe(3);
  for (const name of ['beta', 'gamma', 'beta']) {
    expect((await shared.of(name).query('select name from owner')).rows).toEqual([{ name }]);
  }
  await locker.query('commit');
  locker.release();
  await Promise.all(waiting);
});

test('programs take turns: one that asks once waits for one statement of each, not for all of a neighbour', async () => {
  const shared = open(1);
  const ended: string[] = [];
  const ask = async (program: string) => {
    await shared.of(program).query('select name from owner');
    ended.push(program);
  };
  const first = Array.from({ length: 5 }, () => ask('acme'));
  await Promise.all([...first, ask('beta'), ask('gamma')]);
  expect(ended.indexOf('beta')).toBeLessThan(3);
  expect(ended.indexOf('gamma')).toBeLessThan(4);
});

test('a program gets back the connection that is set to it, rather than a neighbour’s', async () => {
  const shared = open(2);
  const pidOf = async (program: string) => {
    const { rows } = await shared.of(program).query<{ pid: number }>('select pg_backend_pid() as pid');
    return rows[0]?.pid;
  };
  const held = await shared.of('acme').connect();
  const beta = await pidOf('beta');
  held.release();
  const acme = await pidOf('acme');
  expect(acme).not.toBe(beta);
  for (let times = 0; times < 3; times += 1) {
    expect([await pidOf('beta'), await pidOf('acme')]).toEqual([beta, acme]);
  }
});

test('a connection that becomes free goes to its own programs first, to each once', async () => {
  const shared = open(3);
  // As the session of a process does.
  const session = await shared.base.connect();
  const served: string[] = [];
  const ask = async (program: string) => {
    const client = await shared.of(program).connect();
    served.push(program);
    client.release();
  };
  // The first and the third have the same connection.
  for (const program of ['acme', 'beta', 'gamma', 'delta']) await ask(program);
  const [acme, beta] = [await shared.of('acme').connect(), await shared.of('beta').connect()];
  served.length = 0;
  const asked = ['delta', 'acme', 'gamma', 'acme', 'gamma'].map(ask);
  acme.release();
  await Promise.all(asked);
  beta.release();
  session.release();
  expect(served).toEqual(['acme', 'gamma', 'delta', 'acme', 'gamma']);
});

test('with several programs a statement waits at most a minute for a lock, and alone for as long as it takes', async () => {
  const ask = async (isForMany: boolean) =>
    (await open(1, isForMany).of('acme').query('show lock_timeout')).rows;
  expect(await ask(true)).toEqual([{ lock_timeout: '1min' }]);
  expect(await ask(false)).toEqual([{ lock_timeout: '0' }]);
});

test('a program keeps to its own connection, and one that served forty programs is closed', async () => {
  const shared = open(3);
  const pids = new Map<string, Set<number>>();
  const ask = async (program: string) => {
    const client = await shared.of(program).connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    // As Kysely does.
    client.release(false);
    pids.set(program, (pids.get(program) ?? new Set()).add(rows[0]?.pid ?? 0));
  };
  const programs = Array.from({ length: 30 }, (_, index) => `client_${index}`);
  for (let round = 0; round < 3; round += 1) for (const program of programs) await ask(program);
  expect(programs.filter((program) => pids.get(program)?.size !== 1)).toEqual([]);
  expect(new Set(programs.flatMap((program) => [...(pids.get(program) ?? [])])).size).toBe(2);
  for (let index = 0; index < 120; index += 1) await ask(`other_${index}`);
  const before = new Set(pids.get('client_0'));
  await ask('client_0');
  expect(pids.get('client_0')?.size).toBe(before.size + 1);
});
