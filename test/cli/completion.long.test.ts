// What zsh and fish complete, asked of the shells themselves.

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderCompletion } from '../../src/cli/commands/completion.ts';
import { loadProgram } from '../../src/cli/run-cli.ts';
import { openTerminal } from '../support/terminal.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-completion-'));
  const program = await loadProgram({ environment: {}, run: async () => undefined });
  await writeFile(join(directory, 'zsh'), renderCompletion(program, 'zsh'));
  await writeFile(join(directory, 'fish'), renderCompletion(program, 'fish'));
});

afterAll(() => rm(directory, { recursive: true }));

test.each([
  ['affiliate-mirror s', ['sandbox', 'status', 'sync']],
  ['affiliate-mirror sync ', ['affiliates', 'campaigns', 'commissions', 'referrals']],
  ['affiliate-mirror sync --mo', ['--mode']],
  ['affiliate-mirror sync --mode ', ['delta', 'full']],
  ['affiliate-mirror help gr', ['grants']],
  ['affiliate-mirror commissions rec', ['reconcile']],
  ['affiliate-mirror commissions apply --wa', ['--wait']],
  ['affiliate-mirror work ', ['--help']],
  ['affiliate-mirror commissions payable -o z', ['zsh']],
])('fish completes "%s" to %j', (line, offered) => {
  const said = execFileSync('fish', ['-c', `source ${directory}/fish; complete -C "${line}"`], {
    encoding: 'utf8',
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory },
  });
  const words = said.split('\n').flatMap((one) => one.split('\t')[0] || []);
  expect(words).toEqual(offered);
});

test('fish offers files where one may follow', () => {
  const said = execFileSync(
    'fish',
    ['-c', `source ${directory}/fish; complete -C "affiliate-mirror commissions apply z"`],
    { encoding: 'utf8', cwd: directory, env: { PATH: process.env['PATH'], HOME: directory } },
  );
  expect(said).toMatch(/^zsh/);
});

test('zsh completes commands, options and their values', async () => {
  const session = openTerminal('zsh -f -i', {
    size: { columns: 80, rows: 24 },
    environment: { PATH: process.env['PATH'] ?? '', HOME: directory, TERM: 'xterm', LANG: 'C.UTF-8' },
    cwd: directory,
  });
  try {
    session.type("PROMPT='> '; autoload -Uz compinit; compinit -u -D; source ./zsh; print -r read''y\n");
    await session.untilShown(/^ready/);
    session.type('affiliate-mirror commissions rec\t--fi\t');
    await session.untilShown(/^> affiliate-mirror commissions reconcile --fix/);
    session.type('\u0015affiliate-mirror sync --mode d\t');
    await session.untilShown(/^> affiliate-mirror sync --mode delta/);
    session.type('\u0015affiliate-mirror commissions apply fi\t');
    await session.untilShown(/^> affiliate-mirror commissions apply fish/);
    session.type('\u0015affiliate-mirror commissions payable -o fi\t');
    await session.untilShown(/^> affiliate-mirror commissions payable -o fish/);
    session.type('\u0015affiliate-mirror deletions \t');
    await session.untilShown(/^accept +help +list/);
    session.type('\u0015exit\n');
    await session.ended;
  } finally {
    session.kill();
  }
});
