// Installs the package from its tarball as anybody would, in an empty project, on the oldest Node that it is meant for,
// and uses it: the command by npx and installed globally, the demo to its end, the client with its types. On the pinned
// Node, with which all other tests run, it is installed and started. Needs npm's registry.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.ts';
import { makePackage } from '../../tools/packaging/make-package.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { findProcesses, makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { ROOT } from '../support/read-docs.ts';

const OLDEST_NODE = '24';
/** A hook may fetch 90 MB over a slow line. */
const INSTALLING_MS = 900_000;
const SILENT_MS = 240_000;

let packed: string;
let tarball: string;
let sandbox: TestSandbox;

beforeAll(async () => {
  packed = await makeDataDir();
  const made = await makePackage(join(packed, 'package'));
  await mustRun(dirname(process.execPath), packed, 'npm', ['pack', './package']);
  tarball = join(packed, made.tarball);
  sandbox = await runSandbox((await createTestDatabase()).pool, { affiliates: 20, referrals: 250 });
}, INSTALLING_MS);
afterAll(async () => {
  await sandbox.close();
  await removeDataDir(packed);
});

describe('on the oldest Node', () => {
  const given = useProject(findOldestNode);
  testEverywhere(given);

  test('the demo mirrors and pays from nothing, and leaves no process behind', async () => {
    const { node, project } = given();
    const printed = await mustRun(node, project, 'npx', ['affiliate-mirror', 'demo', '--once']);
    expect(printed).toMatch(/│ referrals +│ 6,000 │ +6,000 │ yes +│/);
    expect(await findProcesses(project)).toEqual([]);
  });

  test.each(['demo', 'work'])(
    '%s as a supervisor starts it ends at SIGTERM, and its Postgres too',
    async (command) => {
      const { node, project } = given();
      const environment = {
        STATUS_PORT: '0',
        AFFILIATE_API_URL: sandbox.url,
        AFFILIATE_API_SECRET: SECRET,
        // The demo above marked the usual one as its own.
        MIRROR_SCHEMA: command,
      };
      if (command === 'work')
        await mustRun(node, project, 'npx', ['affiliate-mirror', 'migrate'], environment);
      const child = start(
        node,
        project,
        join(project, 'node_modules/.bin/affiliate-mirror'),
        [command],
        environment,
      );
      await untilPrinted(child, command === 'demo' ? /stay up until Ctrl-C/ : /worker\.started/);
      expect((await findProcesses(project)).length).toBeGreaterThan(0);
      child.kill('SIGTERM');
      await expect.poll(() => findProcesses(project)).toEqual([]);
    },
  );
});

describe('on the pinned Node', () => {
  testEverywhere(useProject(async () => dirname(await realpath(process.execPath))));
});

interface Project {
  /** The directory of the executable of Node. */
  readonly node: string;
  readonly project: string;
}

/** Registers a project that has the package installed with the Node; returns the function to reach it. */
function useProject(findNode: () => Promise<string>): () => Project {
  let made: Project | undefined;
  beforeAll(async () => {
    const node = await findNode();
    const project = await makeDataDir();
    made = { node, project };
    await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    await mustRun(node, project, 'npm', ['install', tarball]);
  }, INSTALLING_MS);
  afterAll(async () => {
    if (made !== undefined) await removeDataDir(made.project);
  });
  return () => {
    if (made === undefined) throw new Error('the package is not installed');
    return made;
  };
}

/** What every Node is to do with it. */
function testEverywhere(given: () => Project): void {
  test('the client has its types, and reads the program', async () => {
    const { node, project } = given();
    await writeFile(
      join(project, 'read.ts'),
      `import { createClient, type Referral } from 'affiliate-mirror/client';
       await using client = createClient({ url: '${sandbox.url}', secret: '${SECRET}' });
       const referrals: Referral[] = await Array.fromAsync(client.referrals.list({ expand: ['affiliate'] }));
       // @ts-expect-error an affiliate cannot be expanded by itself
       const wrong = () => client.affiliates.list({ expand: ['affiliate'] });
       const email: string | undefined = referrals[0]?.affiliate?.email;
       console.log(referrals.length, typeof email, typeof wrong);`,
    );
    await writeFile(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { target: 'esnext', module: 'nodenext', strict: true, noEmit: true, types: [] },
        files: ['read.ts'],
      }),
    );
    await mustRun(node, project, process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '--project',
      project,
    ]);
    expect(await mustRun(node, project, 'node', ['read.ts'])).toBe('250 string function\n');
  });
}

/**
 * What npm has of its user: proxies, certificates, its cache. Nothing of the npm that runs this test, or of its own
 * settings.
 */
const USERS = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(package|lifecycle|command|config_(local|global)?_?prefix)|VITEST|NODE_(OPTIONS|ENV|COMPILE_CACHE))/.test(
        name,
      ) && !VARIABLES.some((variable) => variable.name === name),
  ),
);

/**
 * Returns the directory of the executable of the oldest Node, installed from npm's registry as the project's own is.
 */
async function findOldestNode(): Promise<string> {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const directory = join(packed, 'oldest-node');
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), '{ "private": true }');
  await mustRun(dirname(process.execPath), directory, 'npm', ['install', `${name}@${OLDEST_NODE}`]);
  return join(directory, 'node_modules', name, 'bin');
}

function start(
  node: string,
  cwd: string,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const PATH = [node, process.env['PATH']].join(delimiter);
  return spawn(command, args, {
    cwd,
    env: { ...USERS, PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Returns what the command prints to stdout. Throws: Error with all that it said where it failed. */
async function mustRun(
  node: string,
  cwd: string,
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout, stderr, code } = await runOnce(start(node, cwd, command, args, environment));
  // What is tested is not the registry, which now and then leaves a connection without an answer for good.
  if (code === null && command === 'npm') return await mustRun(node, cwd, command, args, environment);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** Returns what it printed, and its exit code: null where it was ended, after a time in which npm installs anything. */
async function runOnce(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const late = setTimeout(() => child.kill('SIGKILL'), SILENT_MS);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  clearTimeout(late);
  return { stdout, stderr, code };
}

async function untilPrinted({ stdout, stderr }: ChildProcess, wanted: RegExp): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const said: string[] = [];
  for (const stream of [stdout, stderr]) {
    if (stream === null) continue;
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => {
      said.push(line);
      if (wanted.test(line)) resolve();
    });
    lines.on('close', () => reject(new Error(`it never printed ${wanted}:\n${said.join('\n')}`)));
  }
  await promise;
}
