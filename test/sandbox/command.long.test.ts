// The command `sandbox`: what its options make of the program that it serves.

import { once } from 'node:events';
import { request } from 'undici';
import { beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';
import { AUTHORIZATION } from './running-sandbox.ts';

let url: string;

beforeAll(async () => {
  ({ url } = await createTestDatabase());
});

/** Starts it on any free port, hands its address to `use`, and stops it; returns what it wrote to stderr. */
async function serve(args: readonly string[], use: (address: string) => Promise<void>): Promise<string> {
  const child = spawnCli(['sandbox', '--port', '0', ...args], { DATABASE_URL: url });
  const ended = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  try {
    for await (const chunk of child.stdout) {
      stdout += chunk;
      if (/Ctrl-C stops it/.test(stdout)) break;
    }
    const address = /answers at (\S+)\./.exec(stdout)?.[1];
    expect(address, stderr).toBeDefined();
    expect(stdout).toMatch(/ API_RATE_LIMIT=(none|\d+\/\d+)$/m);
    await use(address ?? '');
  } finally {
    child.kill('SIGINT');
  }
  expect(await ended).toEqual([0, null]);
  return stderr;
}

async function get(address: string): Promise<{ status: number; text: string }> {
  const answer = await request(address, { headers: { authorization: AUTHORIZATION, connection: 'close' } });
  return { status: answer.statusCode, text: await answer.body.text() };
}

const SMALL = ['--affiliates', '20', '--referrals', '200'];

it('serves the letter of the contract, without a limit, where nothing else is asked for', async () => {
  const stderr = await serve([...SMALL, '--rate-limit', 'none'], async (address) => {
    expect((await get(`${address}/v1/commissions`)).status).toBe(404);
    const { text } = await get(`${address}/v1/referrals`);
    expect(text).toContain('"processor_customer_id"');
    expect(text).not.toMatch(/stripe_customer_id|became_lead_at|\+0000/);
  });
  // So small a program is there at once.
  expect(stderr).not.toContain('made up');
});

it('--optional-lists, --spelling live and --times offset: the list, names, fields and times seen in the wild', async () => {
  const args = [...SMALL, '--optional-lists', '--spelling', 'live', '--times', 'offset', '--reset'];
  await serve(args, async (address) => {
    const list = await get(`${address}/v1/commissions?expand[0]=sale&state=paid`);
    expect(list.status).toBe(200);
    for (const sign of ['"stripe_charge_id"', '"voided_at"', '"became_lead_at"', '+0000"']) {
      expect(list.text).toContain(sign);
    }
    const openapi = await get(`${address}/openapi.json`);
    expect(openapi.text).toContain('listCommissions');
    expect(openapi.text).toContain('paypal_email');
  });
});

it.each([
  [['--spelling', 'company'], 'neutral, live'],
  [['--times', 'local'], 'utc, offset'],
])('refuses %j and names what would do', async (args, hint) => {
  const { code, stderr } = await runCli(['sandbox', ...args], { DATABASE_URL: url });
  expect(code).toBe(2);
  expect(stderr).toContain(hint);
});

it('tells how far a large program has come while it is made up', async () => {
  const referrals = 100_000;
  const stderr = await serve(
    ['--affiliates', '50', '--referrals', `${referrals}`, '--reset'],
    async (address) => {
      expect((await get(`${address}/v1/referrals?limit=1`)).text).toContain(`"total_count":${referrals}`);
    },
  );
  const wanted = referrals.toLocaleString('en-US');
  const lines = stderr.split('\n').filter((line) => line.startsWith('made up'));
  expect(lines).toHaveLength(referrals / 50_000);
  expect(lines[0]).toBe(`made up 50,000 of ${wanted} referrals`);
  expect(lines.at(-1)).toBe(`made up ${wanted} of ${wanted} referrals`);
});
