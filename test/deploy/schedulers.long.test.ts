// The files for systemd, cron and Airflow are ones that those programs read, and start commands that exist.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CronExpressionParser } from 'cron-parser';
import { expect, test } from 'vitest';
import { TIMINGS } from '../../src/worker/queue/timings.ts';
import { runCli } from '../support/run-cli.ts';

const DIRECTORY = join(import.meta.dirname, '../../docs/deploy');
const read = (name: string) => readFileSync(join(DIRECTORY, name), 'utf8');

/** Returns what follows `affiliate-mirror` in each command line of the text. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/affiliate-mirror (sync[ \w-]*?)\s*(?:>>|"|$)/gm)].map(
    ([, command]) => command ?? '',
  );
}

/**
 * Fails where the command line has an option that does not exist: with no program set, it ends with the message for
 * that.
 */
async function expectKnown(command: string): Promise<void> {
  const { stderr } = await runCli(command.split(' '), { AFFILIATE_API_URL: '' });
  expect(stderr).toContain('AFFILIATE_API_URL is not set');
}

test('systemd finds nothing wrong with the unit', () => {
  const unit = read('affiliate-mirror.service');
  const { status, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', join(DIRECTORY, 'affiliate-mirror.service')],
    {
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  expect(stopSeconds).toBeGreaterThan(TIMINGS.stopDeadlineMs / 1000);
});

test('each line of the crontab has a time, a user, and a command that exists', async () => {
  const lines = read('crontab')
    .split('\n')
    .filter((line) => /^[\d*]/.test(line));
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    const [, time = '', user, command = ''] = /^(\S+ \S+ \S+ \S+ \S+) +(\S+) +(.*)$/.exec(line) ?? [];
    expect(() => CronExpressionParser.parse(time)).not.toThrow();
    expect(user).toBe('mirror');
    execFileSync('sh', ['-n', '-c', command]);
    expect(commandsIn(command)).toHaveLength(1);
    for (const known of commandsIn(command)) await expectKnown(known);
  }
});

test('Python reads the DAGs, and their command exists', async () => {
  execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
    input: read('airflow_dag.py'),
  });
  const commands = commandsIn(read('airflow_dag.py').replaceAll('{mode}', 'delta'));
  expect(commands).toEqual(['sync --mode delta --json']);
  await expectKnown(commands[0] ?? '');
});
