import { expect, test } from 'vitest';
import { print, printData, printError } from '../src/cli/output/print.ts';
import {
  canDrawStatusLine,
  clearStatusLine,
  columnsOfStdout,
  drawStatusLine,
  writeErrorText,
} from '../src/terminal.ts';
import { fakeTerminal } from './support/fake-terminal.ts';

const FANCY = '✓ “Zoë’s“ ┌─┬─┐ │ █░ … – → 日';
const PLAIN = 'ok "Zoe\'s" +-+-+ | #. ... - -> ?';

test.each([
  [{ LANG: 'en_US.UTF-8' }, FANCY],
  [{ LC_ALL: '', LC_CTYPE: 'UTF-8', LANG: 'C' }, FANCY],
  [{ LANG: 'C.utf8', TERM: 'xterm' }, FANCY],
  [{ LC_ALL: 'C', LANG: 'en_US.UTF-8' }, PLAIN],
  [{ LANG: 'de_DE.ISO-8859-1' }, PLAIN],
  [{}, PLAIN],
  [{ LANG: 'en_US.UTF-8', TERM: 'dumb' }, PLAIN],
])('on a terminal with %j a text is in the characters that it shows', (environment, shown) => {
  const { stdout, stderr } = fakeTerminal(80, environment);
  print(FANCY);
  printError(FANCY);
  expect([...stdout, ...stderr]).toEqual([`${shown}\n`, `${shown}\n`]);
});

test('data, and what goes into a pipe, keep every character', () => {
  const terminal = fakeTerminal(80, { LANG: 'C' });
  printData(FANCY);
  const pipe = fakeTerminal(Number.POSITIVE_INFINITY, { LANG: 'C' });
  print(FANCY);
  expect([...terminal.stdout, ...pipe.stdout]).toEqual([`${FANCY}\n`, `${FANCY}\n`]);
});

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
  fakeTerminal(80, { LANG: 'C.UTF-8', TERM: 'dumb' });
  expect(canDrawStatusLine()).toBe(false);
  fakeTerminal(Number.POSITIVE_INFINITY);
  expect(canDrawStatusLine()).toBe(false);
  fakeTerminal(80);
  expect(canDrawStatusLine()).toBe(true);
});
