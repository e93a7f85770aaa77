// The command `sandbox`: what its options make of the program that it serves.

import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { findFreePort } from '../support/redis.ts';
import { spawnCli } from '../support/run-cli.ts';
import { AUTHORIZATION, runSandbox } from './running-sandbox.ts';

test('each option of the command makes the program so', async () => {
  const { url, pool } = await createTestDatabase();
  await (await runSandbox(pool)).close();
  const port = await findFreePort();
  const size = { seed: 3, affiliates: 4, referrals: 5 };
  const args = Object.entries({ port, ...size, 'rate-limit': '30/9999', fault: 'html=0.5', live: 1000 })
    .flatMap(([option, value]) => [`--${option}`, String(value)])
    .concat('--spelling', 'live', '--times', 'offset', '--optional-lists', '--reset');
  const child = spawnCli(['sandbox', ...args], { DATABASE_URL: url });
  const ended = once(child, 'close');
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('Ctrl-C stops it')) break;
  }
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

  child.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
});
