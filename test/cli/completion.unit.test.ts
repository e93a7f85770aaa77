// What bash completes, asked of bash itself. zsh and fish: completion.long.test.ts.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { renderBash } from '../../src/cli/completion/bash.ts';
import { readPlaces } from '../../src/cli/completion/word-tree.ts';
import { loadProgram } from '../../src/cli/run-cli.ts';

const places = readPlaces(await loadProgram({ args: [], environment: {}, run: async () => undefined }));

const ASK = `
COMP_WORDS=(affiliate-mirror "$@") COMP_CWORD=$# COMPREPLY=()
_affiliate_mirror
echo "\${COMPREPLY[*]}"`;

/** Returns what bash offers for the last word, which may be empty. */
function complete(...words: readonly string[]): string[] {
  const script = `${renderBash(places)}\n${ASK}`;
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
    ['affiliates', 'referrals', 'commissions'],
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
  [['sync', 'referrals', '--mode', 'full', '--acc'], ['--accept-deletes']],
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
  [['sync', '--', '--'], []],
])('%j is completed to %j', (words, offered) => {
  expect(complete(...words)).toEqual(offered);
});

test('where a file or any value may follow, nothing is offered, so that bash offers files', () => {
  expect(complete('commissions', 'apply', '')).toEqual([]);
  expect(complete('commissions', 'pay', '--reason', '')).toEqual([]);
  expect(renderBash(places)).toContain('complete -o default ');
});

test('every command and every option is known', async () => {
  const program = await loadProgram({ args: [], environment: {}, run: async () => undefined });
  const [root] = places;
  expect(root?.words.map(({ text }) => text)).toEqual([...program.commands.map((one) => one.name()), 'help']);
  for (const command of program.commands.flatMap((one) => [one, ...one.commands])) {
    const path = command.parent === program ? command.name() : `${command.parent?.name()} ${command.name()}`;
    const known = places.find((place) => place.path === path)?.options.map(({ text }) => text);
    expect(known, path).toEqual(expect.arrayContaining(command.options.map(({ long }) => long)));
  }
});
