// Does what the pages tell people to do, in the order of the pages: every command, query and snippet of the README
// and of docs/, against the program of the command `sandbox`, which has the commissions that the pages name.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_SIZE } from '../../src/cli/commands/sandbox.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';
import { type ObjectStorage, startObjectStorage } from '../support/object-storage.ts';
import { BLOCKS, type Block, PAGES, type PlacedCommand, ROOT, readCommands } from '../support/read-docs.ts';
import { runCli, spawnCli } from '../support/run-cli.ts';

const COMMANDS = readCommands(BLOCKS);
/** The roles that the pages grant something to. */
const ROLES = ['payroll', 'analyst', 'analyst_pii', 'mirror_worker'];

let database: TestDatabase;
let sandbox: TestSandbox;
let storage: ObjectStorage;
/** Where the alerts of the pages go. */
const chat = createServer((_, response) => void response.end('ok'));
let directory: string;
let environment: Readonly<Record<string, string>>;
/** By the name that the pages give it: where the file is. */
const files = new Map<string, string>();

beforeAll(async () => {
  database = await createEmptyDatabase();
  sandbox = await runSandbox(database.pool, {
    ...DEFAULT_SIZE,
    spelling: 'live',
    optionalLists: ['commissions', 'payouts'],
  });
  storage = await startObjectStorage();
  await once(chat.listen(0, '127.0.0.1'), 'listening');
  directory = await makeDirectory();
  environment = {
    AFFILIATE_API_URL: sandbox.url,
    AFFILIATE_API_SECRET: SECRET,
    API_RATE_LIMIT: 'none',
    DATABASE_URL: database.url,
    STATUS_PORT: '0',
    ALERT_WEBHOOK_URL: `http://127.0.0.1:${(chat.address() as AddressInfo).port}/`,
    ...storage.environment,
  };
  await writeFiles();
});
afterAll(async () => {
  await sandbox.close();
  await storage.close();
  chat.close();
});

/** Returns a database without the mirror's tables: what a newcomer begins with. */
async function createEmptyDatabase(): Promise<TestDatabase> {
  const created = await createTestDatabase();
  await created.pool.query('drop schema mirror cascade');
  return created;
}

/** Writes the files that the pages show, and the one that they only name. */
async function writeFiles(): Promise<void> {
  const shown = BLOCKS.filter(({ language }) => language === 'csv').map(({ before, text }) => ({
    name: /`(\w+\.csv)`[^`]*:$/.exec(before)?.[1] ?? '',
    text,
  }));
  const listed = 'programs: { acme: { schema: mirror } }';
  const payouts = shown.find(({ name }) => name === 'payouts.csv');
  for (const { name, text } of [
    ...shown,
    { name: 'commissions.csv', text: payouts?.text ?? '' },
    { name: 'programs.yaml', text: listed },
  ]) {
    files.set(name, join(directory, name));
    await writeFile(join(directory, name), text);
  }
}

/** These serve until they are stopped, and have tests of their own. */
const SERVING = ['work', 'sandbox', 'demo'];

/** Its commands have programs of their own. */
const MANY_PROGRAMS = 'docs/many-programs.md';

const isServing = ({ args }: { args: readonly string[] }) => SERVING.includes(args[0] ?? '');

test('every command and every snippet of the pages does what it says', { timeout: 240_000 }, async () => {
  const done = new Set<string>();
  for (const block of BLOCKS) {
    if (block.page === MANY_PROGRAMS) continue;
    if (block.language === 'sh') await runShell(block, done);
    if (block.language === 'sql') await runSql(block);
    if (block.language === 'python') await runPython(block);
    if (block.language === 'js') await runJs(block);
  }
  expect(done.size).toBeGreaterThan(20);
  const { rows } = await database.pool.query(
    `select commission_id, state from mirror.commission_ledger where reason = 'October payout' order by request`,
  );
  // Twice from the payout file; then from SQL, which is cancelled later on, Python and Node.
  expect(rows.map(({ state }) => state)).toEqual(['applied', 'applied', 'cancelled', 'pending', 'pending']);
});

/** Files that a page has a command write. */
const WRITTEN = /^\w+(?:\.(?:csv|xlsx|parquet)|\/)$/;

async function runShell(block: Block, done: Set<string>): Promise<void> {
  for (const command of readCommands([block])) {
    if (command.kind !== 'cli' || isServing(command) || done.has(command.line)) continue;
    done.add(command.line);
    const args = command.args.map(
      (word) => files.get(word) ?? (WRITTEN.test(word) ? join(directory, word) : word),
    );
    const { code, stdout, stderr } = await runCli(args, environmentOf(args));
    expect(code, `${command.page}: ${command.line}\n${stdout}${stderr}`).toBe(0);
    // The queries of the pages read its views.
    if (args[0] === 'union') await database.pool.query(stdout);
  }
}

/** What is for several programs gets a list with the mirror of the pages. */
function environmentOf([word]: readonly string[]): Readonly<Record<string, string>> {
  return word === 'union' ? { ...environment, PROGRAMS_FILE: files.get('programs.yaml') ?? '' } : environment;
}

async function runSql({ page, text }: Block): Promise<void> {
  if (text.includes('grant ')) return;
  await database.pool.query(text).catch((error: unknown) => {
    throw new Error(`${page}: ${text}`, { cause: error });
  });
}

const SNIPPET_VALUES = {
  commissionId: 'd819463a-1868-4dea-9ca1-8355a2344b75',
  paidAt: '2026-10-01T12:00:00Z',
};

async function runPython({ page, text }: Block): Promise<void> {
  const python = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
    input: text,
    encoding: 'utf8',
  });
  // A machine without Python still executes what the snippet sends.
  if (python.error === undefined) expect(python.status, `${page}: ${python.stderr}`).toBe(0);
  // What computes something is run by test/mirror/people/hash-in-python.long.test.ts.
  if (!text.includes('execute(')) return;
  const [, statement = '', parameters = ''] = /"""(.*?)""", \((.*?)\)\)/s.exec(text) ?? [];
  let place = 0;
  const values = parameters.split(', ').map((word) => {
    if (word === 'commission_id') return SNIPPET_VALUES.commissionId;
    return word === 'paid_at' ? SNIPPET_VALUES.paidAt : JSON.parse(word);
  });
  await database.pool.query(
    statement.replace(/%s/g, () => {
      place += 1;
      return `$${place}`;
    }),
    values,
  );
  expect(place).toBe(values.length);
}

const AsyncFunction = (async () => {}).constructor as new (
  ...text: string[]
) => (...values: unknown[]) => Promise<void>;

async function runJs({ text }: Block): Promise<void> {
  await new AsyncFunction('pool', 'commissionId', text)(database.pool, SNIPPET_VALUES.commissionId);
}

// Roles belong to the whole server: these exist in one transaction, which no other connection sees.
test('every grant of the pages is one that Postgres takes', async () => {
  const client = await database.pool.connect();
  try {
    await client.query('begin');
    for (const role of ROLES) await client.query(`create role ${role}`);
    const granting = BLOCKS.filter(({ language, text }) => language === 'sql' && text.includes('grant '));
    for (const { text } of granting) await client.query(text);
    for (const command of COMMANDS) {
      if (command.kind !== 'cli' || command.args[0] !== 'grants') continue;
      const { stdout } = await runCli(command.args, environment);
      // All of it in the transaction that there is.
      await client.query(stdout.replace(/^(begin|commit);$/gm, ''));
    }
  } finally {
    // Its locks would hold up the tests that follow.
    await client.query('rollback');
    client.release();
  }
});

test('every command about many programs works on those of its own sandbox', {
  timeout: 240_000,
}, async () => {
  const { url } = await createEmptyDatabase();
  const commands = readCommands(BLOCKS.filter(({ page }) => page === MANY_PROGRAMS));
  const args = (name: string) =>
    commands.flatMap((command) => (command.kind === 'cli' && command.args[0] === name ? [command.args] : []));
  const [sandboxOfMany = []] = args('sandbox');
  const environmentOfMany = {
    DATABASE_URL: url,
    DATA_DIR: directory,
    PROGRAMS_FILE: join(directory, 'sandbox', 'programs.yaml'),
  };
  const serving = spawnCli([...sandboxOfMany, '--port', '0'], { DATABASE_URL: url, DATA_DIR: directory });
  const ended = once(serving, 'close');
  await untilPrinted(serving.stdout, /Ctrl-C stops it/);
  for (const command of commands) {
    if (command.kind !== 'cli' || isServing(command)) continue;
    const words = command.args.map((word) => word.replace(/^(?=[\w{}/]+\/$)/, `${directory}/`));
    const { code, stdout, stderr } = await runCli(words, environmentOfMany);
    expect(code, `${command.line}\n${stdout}${stderr}`).toBe(0);
  }
  // The worker of the page serves all three.
  expect(args('work')).toHaveLength(1);
  const worker = spawnCli(['work'], { ...environmentOfMany, STATUS_PORT: '0' });
  await untilPrinted(worker.stderr, /(?:program\.served.*\n.*){3}/s);
  for (const child of [worker, serving]) child.kill('SIGINT');
  expect([(await once(worker, 'close'))[0], (await ended)[0]]).toEqual([0, 0]);
});

test('the sandboxes of the pages answer', async () => {
  const commands = COMMANDS.filter((command) => command.kind === 'cli' && command.args[0] === 'sandbox');
  expect(commands.length).toBeGreaterThan(0);
  // Who follows one page has not done what another one says.
  const urls = new Map<string, string>();
  for (const command of commands) {
    if (command.kind !== 'cli') continue;
    const url = urls.get(command.page) ?? (await createEmptyDatabase()).url;
    urls.set(command.page, url);
    const { code, stdout } = await runUntil(/Ctrl-C stops it/, [...command.args, '--port', '0'], url);
    expect(code, command.line).toBe(0);
    expect(stdout).toMatch(/The sandbox answers (?:at|below) /);
  }
});

test('the demo of the pages prints what its picture shows', async () => {
  const { url } = await createEmptyDatabase();
  const scripts = COMMANDS.flatMap((command) => (command.kind === 'npm' ? [command.script] : []));
  expect(scripts).toContain('demo');
  const { code, stdout } = await runUntil(/until Ctrl-C/, ['demo'], url);
  expect(code).toBe(0);
  const svg = await readFile(join(ROOT, 'docs/images/demo.svg'), 'utf8');
  const drawn = [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, text = '']) => unescapeXml(text));
  expect(drawn[0]).toBe('$ npm run demo');
  const lines = new Set(stdout.split('\n').map(withoutFigures));
  // Its own Postgres is another one than the test's.
  const lacking = drawn
    .slice(1)
    .filter((line) => !/Postgres: |database /.test(line) && !lines.has(withoutFigures(line)));
  expect(lacking, 'draw it again: npm run picture').toEqual([]);
});

// Times, ports and durations differ each time, and with them the width of a cell and a duration's unit.
function withoutFigures(line: string): string {
  return line.replace(/\d+(\.\d+)? (ms|s|min|h)\b( \d+ (s|min)\b)?/g, '0 s').replace(/\d+/g, '0');
}

function unescapeXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Rejects if the stream ends before. What comes later is read and dropped. */
async function untilPrinted(stream: Readable, said: RegExp): Promise<void> {
  let printed = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.on('data', (chunk) => {
    printed += chunk;
    if (said.test(printed)) resolve();
  });
  stream.once('end', () => reject(new Error(`it printed only:\n${printed}`)));
  await promise;
}

/** Returns what a command that serves until Ctrl-C printed, once it has said so and was stopped. */
async function runUntil(
  said: RegExp,
  args: readonly string[],
  url: string,
): Promise<{ code: number | null; stdout: string }> {
  const child = spawnCli(args, { DATABASE_URL: url, DATA_DIR: directory });
  const ended = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  for await (const chunk of child.stdout) {
    stdout += chunk;
    if (said.test(stdout)) child.kill('SIGINT');
  }
  const [code] = await ended;
  return { code, stdout: `${stdout}${stderr}` };
}

test('the pages show every command that there is', async () => {
  const named = (help: string) =>
    [...(help.split('Commands:\n')[1]?.split('\n\n')[0] ?? '').matchAll(/^ {2}([\w-]+)/gm)].map(
      ([, name = '']) => name,
    );
  const groups = named((await runCli(['--help'], {})).stdout);
  const updates = named((await runCli(['commissions', '--help'], {})).stdout);
  const all = [...groups, ...updates.map((name) => `commissions ${name}`)];
  const shown = COMMANDS.flatMap(wordsOf);
  const lacking = all.filter(
    (name) => !/help$/.test(name) && !shown.some((words) => `${words} `.startsWith(`${name} `)),
  );
  expect(all).toContain('commissions pay');
  expect(lacking).toEqual([]);
});

function wordsOf(command: PlacedCommand): string[] {
  if (command.kind === 'cli') return [command.args.join(' ')];
  return command.kind === 'npm' ? [command.script] : [];
}

test("the analysts' page names every table and view that is for analysis, and every column of the mirror's own", async () => {
  const page = PAGES.find(({ path }) => path === 'docs/analysts.md')?.text ?? '';
  const cells = [...page.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []);
  const tables = await database.pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace in ('mirror'::regnamespace, 'mirror_reports'::regnamespace) and relkind in ('r', 'v')
       and obj_description(oid, 'pg_class') !~* 'nothing for analysis'`,
  );
  const columns = await database.pool.query<{ name: string }>(
    `select distinct column_name as name from information_schema.columns
     where table_schema = 'mirror' and column_name ~ '^_'`,
  );
  const names = [...tables.rows, ...columns.rows].map(({ name }) => name);
  expect(cells.toSorted()).toEqual(names.toSorted());
});
