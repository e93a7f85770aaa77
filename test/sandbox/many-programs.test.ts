// A sandbox of many programs: each at an address of its own, with its own secret, data, limit and faults.

import { Agent, request } from 'undici';
import { beforeAll, expect, test } from 'vitest';
import { makeLogger } from '../../src/base/log.ts';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import type { ProgramOptions } from '../../src/sandbox/served-program.ts';
import { findProgram, type SandboxOfMany, startSandboxOfMany } from '../../src/sandbox/start-sandbox.ts';
import { afterFile } from '../support/after-file.ts';
import { createTestDatabase } from '../support/database.ts';
import { basic } from './running-sandbox.ts';

const NAMES = ['acme', 'birch', 'acme-2'];
const LIMIT = { requests: 4, windowSeconds: 600 };
const NEVER_WRONG = { foreignSecrets: 0, wrongSecrets: 0 };

const { pool } = await createTestDatabase();
const deps = { pool, log: makeLogger('fatal') };
const agent = new Agent();
afterFile(() => agent.close());

let sandbox: SandboxOfMany;
const program = (name: string) => findProgram(sandbox.programs, name);

beforeAll(async () => {
  const address = { host: '127.0.0.1', port: 0 };
  sandbox = await startSandboxOfMany(deps, {
    ...address,
    programs: Object.fromEntries(NAMES.map((name, index) => [name, makeOptions(name, index)])),
  });
  return () => sandbox.close();
});

function makeOptions(name: string, seed: number): ProgramOptions {
  return {
    schema: `program_${name}`,
    secret: `secret-${name}`,
    seed,
    affiliates: 3 + seed,
    referrals: 10,
    rateLimit: LIMIT,
    faults: NO_FAULTS,
    live: null,
    reset: false,
  };
}

interface Answer {
  readonly status: number;
  readonly body: { readonly data: readonly { readonly id: string }[]; readonly error: string };
}

async function get(address: string, secret: string, path = '/v1/affiliates'): Promise<Answer> {
  const headers = { authorization: basic(`${secret}:`) };
  const answer = await request(`${sandbox.url}/${address}${path}`, { dispatcher: agent, headers });
  return { status: answer.statusCode, body: (await answer.body.json()) as Answer['body'] };
}

test('each program answers its own data to its own secret, and counts by its own limit', async () => {
  const found = new Set<string>();
  for (const [index, name] of NAMES.entries()) {
    expect(program(name).url).toBe(`${sandbox.url}/${name}`);
    const { status, body } = await get(name, `secret-${name}`);
    expect([status, body.data.length]).toEqual([200, 3 + index]);
    for (const { id } of body.data) found.add(id);
  }
  expect(found.size).toBe(3 + 4 + 5);
  for (let sent = 1; sent < 6; sent += 1) await get('acme', 'secret-acme');
  expect(program('acme').statistics()).toEqual({
    ...NEVER_WRONG,
    requests: 6,
    rateLimited: 2,
    mostInWindow: 6,
  });
  expect(program('birch').statistics()).toEqual({
    ...NEVER_WRONG,
    requests: 1,
    rateLimited: 0,
    mostInWindow: 1,
  });
  expect(program('acme').requests.map(({ url, status }) => `${status} ${url}`)).toEqual(
    [200, 200, 200, 200, 429, 429].map((status) => `${status} /v1/affiliates`),
  );
  program('acme').setRateLimit(null);
  expect((await get('acme', 'secret-acme')).status).toBe(200);
  expect(program('acme').statistics()).toMatchObject({ requests: 7, mostInWindow: 0 });
});

test("another program's secret is refused and counted, and so is any wrong one, by the program that was asked", async () => {
  program('birch').setRateLimit(null);
  expect((await get('birch', 'secret-acme')).status).toBe(401);
  // An address that the router cannot read.
  expect((await get('birch', 'secret-acme-2', '/v1/commissions/%FF')).status).toBe(401);
  expect((await get('birch', 'secret')).status).toBe(401);
  expect(program('birch').statistics()).toMatchObject({ foreignSecrets: 2, wrongSecrets: 1 });
  expect(program('acme').statistics()).toMatchObject(NEVER_WRONG);

  program('birch').setSecret('changed');
  expect((await get('birch', 'secret-birch')).status).toBe(401);
  expect((await get('birch', 'changed')).status).toBe(200);
  // Its own of before is no other program's.
  expect(program('birch').statistics()).toMatchObject({ foreignSecrets: 2, wrongSecrets: 2 });

  const statistics = await request(`${sandbox.url}/statistics`, { dispatcher: agent });
  expect(await statistics.body.json()).toEqual(
    Object.fromEntries(NAMES.map((name) => [name, program(name).statistics()])),
  );
});

test('faults and events of one program leave the others alone', async () => {
  program('acme-2').setFaults({ shares: {}, exact: [{ kind: '5xx', route: '/v1/affiliates', times: 99 }] });
  expect((await get('acme-2', 'secret-acme-2')).status).toBeGreaterThanOrEqual(500);
  await program('acme').program.insertAffiliate();
  expect((await get('acme', 'secret-acme')).body.data).toHaveLength(4);
  expect((await get('birch', 'changed')).body.data).toHaveLength(4);
});

test('an address of no program is 404', async () => {
  for (const address of ['', 'cobalt', 'acmex', 'acme/v2']) {
    expect((await get(address, 'secret-acme')).status).toBe(404);
  }
});
