// What becomes of a command when the npx or npm that started it is killed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

test.each([
  ['ends as well where npm started it', { npm_command: 'exec' }, true],
  ['goes on where something else started it', {}, false],
])('a command whose shell is killed %s', async (_, environment, ends) => {
  const { url } = await createTestDatabase();
  // As npm does it: a shell in between, which passes no signal on. Its own `echo` keeps it from replacing itself.
  const script = `"$0" "$1" sandbox --port 0 & echo "pid $!"; wait; echo over`;
  const shell = spawn('/bin/sh', ['-c', script, process.execPath, MAIN], {
    env: { PATH: process.env['PATH'], DATABASE_URL: url, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: shell.stdout });
  let pid = 0;
  for await (const line of lines) {
    pid = Number(/^pid (\d+)$/.exec(line)?.[1] ?? pid);
    if (line === 'Ctrl-C stops it.') break;
  }
  onTestFinished(() => {
    if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  const over = once(shell, 'exit');
  shell.kill('SIGTERM');
  await over;
  if (ends) await expect.poll(() => isRunning(pid)).toBe(false);
  else {
    // Longer than it takes to notice.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(isRunning(pid)).toBe(true);
  }
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
