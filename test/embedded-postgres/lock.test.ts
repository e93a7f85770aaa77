import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { tryLock, waitForLock } from '../../src/embedded-postgres/lock.ts';
import { makeDirectory } from '../support/directory.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await makeDirectory();
  path = join(directory, 'lock');
});

const MODULE = new URL('../../src/embedded-postgres/lock.ts', import.meta.url).href;

async function holdElsewhere(kind: string): Promise<{ kill(): Promise<void> }> {
  const script = `
    const { tryLock } = await import('${MODULE}');
    if (tryLock('${path}', '${kind}') === null) throw new Error('not locked');
    globalThis.gc();
    process.stdout.write('locked');
    setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const kill = async () => {
    child.kill('SIGKILL');
    await closed;
  };
  onTestFinished(kill);
  await once(child.stdout, 'data');
  return { kill };
}

it('holds an exclusive lock alone', async () => {
  await holdElsewhere('exclusive');
  expect(tryLock(path, 'exclusive')).toBeNull();
  expect(tryLock(path, 'shared')).toBeNull();
});

it('holds any number of shared locks, and no exclusive one beside them', async () => {
  await holdElsewhere('shared');
  const mine = tryLock(path, 'shared');
  expect(mine).not.toBeNull();
  mine?.release();
  expect(tryLock(path, 'exclusive')).toBeNull();
});

it('is free once its holder was killed', async () => {
  const other = await holdElsewhere('exclusive');
  const waiting = waitForLock(path, 10_000);
  await other.kill();
  const lock = await waiting;
  expect(lock).not.toBeNull();
  lock?.release();
});
