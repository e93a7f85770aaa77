// Runs every example of the library's docstrings and of its page, as its reader would: as a module that imports the
// package by its name, against a program that has the commission which the examples name.

import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runSandbox, SECRET } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { BLOCKS, ROOT } from '../support/read-docs.ts';

interface Example {
  readonly name: string;
  readonly text: string;
}

const EXAMPLES: readonly Example[] = [
  ...globSync('src/client/*.ts', { cwd: ROOT }).toSorted().flatMap(examplesIn),
  ...BLOCKS.filter(({ language }) => language === 'ts').map(({ page, text }, index) => ({
    name: `${page}, block ${index + 1}`,
    text,
  })),
];
const COMMISSION_ID = '0b9a3a55-0c53-4d2e-9a53-6f3f5ea7d8c1';

const { pool } = await createTestDatabase();
const sandbox = await runSandbox(pool, { affiliates: 20, referrals: 250, optionalLists: ['payouts'] });
await pool.query(
  'update sandbox.commissions set id = $1, paid_at = null where id = (select min(id) from sandbox.commissions)',
  [COMMISSION_ID],
);

test('there are examples of every method', () => {
  const all = EXAMPLES.map((example) => example.text).join('\n');
  for (const call of ['createClient(', 'createBudget(', '.list(', '.find(', '.get(', '.update(', '.pay(']) {
    expect(all).toContain(call);
  }
});

test.each(EXAMPLES)('the example of $name runs', async ({ text: example }) => {
  const { code, stderr } = await runModule(example.replaceAll('https://api.example.com', sandbox.url));
  expect(stderr).toBe('');
  expect(code).toBe(0);
});

test('the examples have no type error', { timeout: 120_000 }, async () => {
  const directory = await makeDirectory();
  await Promise.all(
    EXAMPLES.map((example, index) => writeFile(join(directory, `example-${index}.ts`), example.text)),
  );
  const compilerOptions = {
    paths: { 'affiliate-mirror/client': [join(ROOT, 'src/client/client.ts')] },
    typeRoots: [join(ROOT, 'node_modules/@types')],
    rootDir: '/',
  };
  await writeFile(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['*.ts'] }),
  );
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
  const { code, stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', directory]);
  expect(stdout).toBe('');
  expect(code).toBe(0);
});

/** Returns what stands between the fences of the file's comments. */
function examplesIn(path: string): Example[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  const examples: Example[] = [];
  let inside: string[] | null = null;
  for (const [index, line] of lines.entries()) {
    const comment = /^\s*\* ?(.*)$/.exec(line)?.[1];
    if (comment === '```ts') inside = [];
    else if (comment === '```' && inside !== null) {
      examples.push({ name: `${path}, line ${index + 1 - inside.length}`, text: inside.join('\n') });
      inside = null;
    } else inside?.push(comment ?? '');
  }
  return examples;
}

function runModule(module: string) {
  return run(process.execPath, ['--input-type=module-typescript', '-'], module);
}

async function run(command: string, args: readonly string[], input = '') {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], AFFILIATE_API_SECRET: SECRET },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
