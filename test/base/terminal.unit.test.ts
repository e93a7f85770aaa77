import { expect, test } from 'vitest';
import {
  canDrawStatusLine,
  clearStatusLine,
  columnsOfStdout,
  drawStatusLine,
  writeErrorText,
} from '../../src/base/terminal.ts';
import { printError } from '../../src/cli/output/print.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

test('a sentence breaks between words, and an indented command does not', () => {
  const { stderr } = fakeTerminal(40);
  const words = 'one two three four five six seven eight nine';
  printError(`${words}\n  $ ${words}`);
  expect(stderr).toEqual([`one two three four five six seven eight\nnine\n  $ ${words}\n`]);
});

test('a terminal that does not say how wide it is has 80 columns, and a pipe has no bound', () => {
  fakeTerminal(0);
  expect(columnsOfStdout()).toBe(80);
  fakeTerminal(Number.POSITIVE_INFINITY);
  expect(columnsOfStdout()).toBe(Number.POSITIVE_INFINITY);
});

test('what is written while a status line is shown goes above it', () => {
  const { stderr } = fakeTerminal(20);
  drawStatusLine('a line that is wider than the terminal');
  writeErrorText('a log line\n');
  clearStatusLine();
  clearStatusLine();
  const clear = '\r\u001B[K';
  expect(stderr.join('')).toBe(`${clear}a line that is wi${clear}a log line\na line that is wi${clear}`);
});

test('no line is drawn anew on a dumb terminal, nor in a pipe', () => {
  fakeTerminal(80, { TERM: 'dumb' });
  expect(canDrawStatusLine()).toBe(false);
  fakeTerminal(Number.POSITIVE_INFINITY);
  expect(canDrawStatusLine()).toBe(false);
  fakeTerminal(80);
  expect(canDrawStatusLine()).toBe(true);
});
