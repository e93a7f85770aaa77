// What every command's help looks like, and what is said of a word that is no command.

import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { wrapHelp, wrapProse } from '../../src/cli/output/wrap-text.ts';
import { loadProgram } from '../../src/cli/run-cli.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { runCli } from '../support/run-cli.ts';

const program = await loadProgram({ args: [], environment: {}, run: async () => undefined });

function withPaths(command: Command, path = 'affiliate-mirror'): [path: string, command: Command][] {
  return [[path, command], ...command.commands.flatMap((one) => withPaths(one, `${path} ${one.name()}`))];
}

function helpOf(command: Command, columns: number): string[] {
  const { stdout } = fakeTerminal(columns);
  command.outputHelp();
  return stdout.join('').split('\n');
}

test.each(withPaths(program))(
  'the help of %s fits 80 columns, also where nobody knows how many there are',
  (_, command) => {
    for (const columns of [80, 0, Number.POSITIVE_INFINITY]) {
      expect(helpOf(command, columns).filter((line) => line.length > 80)).toEqual([]);
    }
  },
);

test.each(withPaths(program))('the help of %s is as wide as a wide terminal', (path, command) => {
  const lines = helpOf(command, 160);
  expect(lines.filter((line) => line.length > 160)).toEqual([]);
  expect(lines[0]).toContain(`Usage: ${path}`);
});

test('lines of a paragraph flow, lists and commands stay', () => {
  const text = `A sentence of words
that goes on. And on.

Words:
  short      what the short word means to us
  - an item of a list without a term, too long
  a term that leaves no room   meaning
  $ affiliate-mirror commissions status --json`;
  expect(wrapHelp(text, 36)).toBe(`A sentence of words that goes on.
And on.

Words:
  short      what the short word
             means to us
  - an item of a list without a
    term, too long
  a term that leaves no room
      meaning
  $ affiliate-mirror commissions \\
      status --json`);
});

test('of lines with an indent, those of a list are broken, and commands are not', () => {
  expect(wrapProse('  - changes of one of several things', 28)).toBe(
    '  - changes of one of\n    several things',
  );
  expect(wrapProse('  affiliate-mirror sync --mode delta', 28)).toBe('  affiliate-mirror sync --mode delta');
});

test('a word that is longer than a line stays whole', () => {
  expect(wrapProse('see https://example.com/a/long/path now', 12)).toBe(
    'see\nhttps://example.com/a/long/path\nnow',
  );
});

test.each([
  [['help', 'nope'], "unknown command 'nope'", 'affiliate-mirror --help'],
  [['help', 'synk'], '(Did you mean sync?)', 'affiliate-mirror --help'],
  [['help', 'commissions', 'aply'], '(Did you mean apply?)', 'affiliate-mirror commissions --help'],
  [['commissions', 'help', 'nope'], "unknown command 'nope'", 'affiliate-mirror commissions --help'],
  [['help', 'sync', 'nope'], '"sync" has no command "nope"', 'affiliate-mirror sync --help'],
  [['sync', '--fast'], "unknown option '--fast'", 'affiliate-mirror sync --help'],
  [['commissions', 'pay'], "missing required argument 'ids'", 'affiliate-mirror commissions pay --help'],
])('%j says what is wrong and names the help to read', async (args, wrong, hint) => {
  const { code, stdout, stderr: said } = await runCli(args, {});
  expect([code, stdout]).toEqual([2, '']);
  expect(said).toMatch(/^affiliate-mirror: /);
  expect(said).toContain(wrong);
  expect(said).toContain(`("${hint}" `);
  expect(said).not.toContain('error:');
});
