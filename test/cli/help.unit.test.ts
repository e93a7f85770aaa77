// What every command's help looks like, and what is said of a word that is no command.

import { Command } from 'commander';
import { expect, test } from 'vitest';
import { HELP_OUTPUT } from '../../src/cli/help.ts';
import { loadProgram } from '../../src/cli/run-cli.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { runCli } from '../support/run-cli.ts';

const program = await loadProgram({ environment: {}, run: async () => undefined });

function withPaths(command: Command, path = 'affiliate-mirror'): [path: string, command: Command][] {
  return [[path, command], ...command.commands.flatMap((one) => withPaths(one, `${path} ${one.name()}`))];
}

function helpOf(command: Command, columns: number): string[] {
  const { stdout } = fakeTerminal(columns);
  command.outputHelp();
  return stdout.join('').split('\n');
}

test.each(withPaths(program))('the help of %s breaks its sentences between words', (path, command) => {
  for (const [columns, most] of [
    [80, 80],
    [0, 80],
    [Number.POSITIVE_INFINITY, 80],
    [160, 160],
  ] as const) {
    const lines = helpOf(command, columns);
    expect(lines.filter((line) => /^\S/.test(line) && line.length > most)).toEqual([]);
    expect(lines.join(' ')).toContain(`Usage: ${path}`);
  }
});

test('lines of a paragraph flow, those of lists and commands stay', () => {
  const long = 'affiliate-mirror status --a-long-option --and-another-one';
  const command = new Command('c').configureOutput(HELP_OUTPUT).addHelpText(
    'after',
    `
A sentence of some words that is broken
in two. And on.

Words:
  short      what the short word means to us, and to all the others
  $ ${long}`,
  );
  expect(helpOf(command, 50).slice(-7)).toEqual([
    'A sentence of some words that is broken in two.',
    'And on.',
    '',
    'Words:',
    '  short      what the short word means to us, and to all the others',
    `  $ ${long}`,
    '',
  ]);
});

test.each([
  [['synk'], '(Did you mean sync?)'],
  [['sync', '--fast'], "unknown option '--fast'"],
  [['commissions', 'pay'], "missing required argument 'ids'"],
])('%j says what is wrong and points at the help', async (args, wrong) => {
  const { code, stdout, stderr: said } = await runCli(args, {});
  expect([code, stdout]).toEqual([2, '']);
  expect(said).toMatch(/^affiliate-mirror: /);
  expect(said).toContain(wrong);
  expect(said).toContain('(add --help to see its options)');
  expect(said).not.toContain('error:');
});
