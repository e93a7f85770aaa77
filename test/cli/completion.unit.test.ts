// What bash completes, asked of bash itself. zsh and fish: completion.long.test.ts.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { renderCompletion } from '../../src/cli/commands/completion.ts';
import { loadProgram } from '../../src/cli/run-cli.ts';

const program = await loadProgram({ environment: {}, run: async () => undefined });
const completion = renderCompletion(program, 'bash');

const ASK = `
COMP_WORDS=(affiliate-mirror "$@") COMP_CWORD=$# COMPREPLY=()
_affiliate_mirror
echo "\${COMPREPLY[*]}"`;

/** Returns what bash offers for the last word, which may be empty. */
function complete(...words: readonly string[]): string[] {
  const script = `${completion}\n${ASK}`;
  const said = execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' });
  return said
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
}

test.each([
  [['s'], ['sync', 'status', 'sandbox']],
  [['help', 'gr'], ['grants']],
  [
    ['sync', ''],
    ['affiliates', 'referrals', 'campaigns', 'commissions'],
  ],
  [
    ['sync', '--m'],
    ['--mode', '--migrate'],
  ],
  [
    ['sync', '--mode', ''],
    ['full', 'delta'],
  ],
  [['sync', '--mode', '=', 'd'], ['delta']],
  [['sync', 'referrals', '--mode', 'full', '--accept-d'], ['--accept-deletes']],
  [['commissions', 'rec'], ['reconcile']],
  [['commissions', 'apply', '--wa'], ['--wait']],
  [['commissions', 'pay', '--reason', 'sync', '--dry'], ['--dry-run']],
  [['deletions', 'accept', 'r'], ['referrals']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['work', ''], ['--help']],
  [['sync', '--', 'a'], ['affiliates']],
  // Nothing, so that bash offers files.
  [['commissions', 'payable', '-o', ''], []],
  [['commissions', 'template', '--output', ''], []],
])('%j is completed to %j', (words, offered) => {
  expect(complete(...words)).toEqual(offered);
});

test('where a file or any value may follow, nothing is offered, so that bash offers files', () => {
  expect(complete('commissions', 'apply', '')).toEqual([]);
  expect(complete('commissions', 'pay', '--reason', '')).toEqual([]);
  expect(completion).toContain('complete -o default ');
});

test('every command and every option is known', () => {
  expect(complete('')).toEqual([...program.commands.map((one) => one.name()), 'help']);
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    const path =
      command.parent === program ? [command.name()] : [command.parent?.name() ?? '', command.name()];
    const long = command.options.map((option) => option.long);
    expect(complete(...path, '--'), path.join(' ')).toEqual(expect.arrayContaining(long));
  }
});
