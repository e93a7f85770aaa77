// The command `sandbox`: what its options make of the program that it serves.

import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPrograms } from '../../src/config/programs-file.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { findFreePort } from '../support/redis.ts';
import { spawnCli } from '../support/run-cli.ts';
import { AUTHORIZATION, basic, runSandbox } from './running-sandbox.ts';

test('each option of the command makes the program so', async () => {
  const { url, pool } = await createTestDatabase();
  await (await runSandbox(pool)).close();
  const port = await findFreePort();
  const size = { seed: 3, affiliates: 4, referrals: 5 };
  const args = Object.entries({ port, ...size, 'rate-limit': '30/9999', fault: 'html=0.5', live: 1000 })
    .flatMap(([option, value]) => [`--${option}`, String(value)])
    .concat('--spelling', 'live', '--times', 'offset', '--optional-lists', '--reset');
  const { printed, interrupt } = await startCommand(args, { DATABASE_URL: url });
  expect(printed).toContain(`answers at http://127.0.0.1:${port}. `);
  expect(printed).toContain(' API_RATE_LIMIT=30/9999\n');

  const answers: string[] = [];
  for (let request = 0; request < 31; request += 1) {
    const list = request % 2 === 0 ? 'affiliates' : 'campaigns';
    const headers = { authorization: AUTHORIZATION };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/${list}?limit=1`, { headers });
    const text = await answer.text();
    answers.push(`${list} ${answer.status} ${text}`);
  }
  // Live spelling, and times with an offset.
  expect(answers).toContainEqual(expect.stringMatching(/^affiliates 200 .*"paypal_email".*\+0000"/s));
  expect(answers).toContainEqual(expect.stringMatching(/^campaigns 200 \{/));
  expect(answers).toContainEqual(expect.stringMatching(/^\w+ 200 <!doctype html/));
  expect(answers.map((answer) => answer.split(' ')[1]).lastIndexOf('200')).toBe(29);
  expect(answers.at(-1)).toMatch(/ 429 /);
  const { rows } = await pool.query(
    'select seed::int, affiliates, referrals, spelling from sandbox.sandbox_program',
  );
  expect(rows).toEqual([{ ...size, spelling: 'live' }]);
  // Time passes.
  await expect
    .poll(async () => (await pool.query('select from sandbox.referrals')).rows.length)
    .toBeGreaterThan(size.referrals);

  expect(await interrupt()).toEqual([0, null]);
});

test('--programs prints a PROGRAMS_FILE whose addresses answer to their secrets', async () => {
  const { url, pool } = await createTestDatabase();
  const directory = await makeDirectory();
  const port = await findFreePort();
  const args = ['--programs', '3', '--port', String(port), '--rate-limit', '45/30', '--seed', '5'];
  const environment = { DATABASE_URL: url, DATA_DIR: directory };
  const { printed, interrupt } = await startCommand(args, environment);
  const path = join(directory, 'sandbox', 'programs.yaml');
  const text = await readFile(path, 'utf8');
  expect(printed).toContain(`\n\n${text}\n`);
  expect(printed).toContain(`  export PROGRAMS_FILE='${path}'\n`);
  expect(printed).not.toContain('sandbox-secret');
  expect(printed).toContain('Their data: 3 made just now, 0 as the last sandbox left them, in the schemas');

  const names = ['acme', 'birch', 'cobalt'];
  const listed = readPrograms({ PROGRAMS_FILE: path }) ?? [];
  expect(listed.map(({ name }) => name)).toEqual(names);
  for (const { name, config } of listed) {
    const { address, rateLimit } = config.program;
    expect(rateLimit).toEqual({ requests: 45, windowSeconds: 30 });
    const headers = { authorization: basic(`${address.secret}:`) };
    const answer = await fetch(`${address.url}/v1/affiliates`, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit-limit')).toBe('45');
    expect((await stat(join(directory, 'sandbox', `${name}.secret`))).mode & 0o777).toBe(0o600);
  }
  const { rows } = await pool.query(
    `select array_agg(seed::int order by seed) as seeds from (
       ${names.map((name) => `select seed from sandbox_${name}.sandbox_program`).join(' union all ')}) p`,
  );
  expect(rows).toEqual([{ seeds: [5, 6, 7] }]);
  expect(await interrupt()).toEqual([0, null]);
});

/** Returns what the command printed until it served. */
async function startCommand(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawnCli(['sandbox', ...args], environment);
  const ended = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('Ctrl-C stops it')) break;
  }
  const interrupt = () => {
    child.kill('SIGINT');
    return ended;
  };
  return { printed, interrupt };
}
