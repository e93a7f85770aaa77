// `npm run picture`: runs the demo from nothing and draws the first part of what it prints as docs/images/demo.svg,
// which the README links. The demo prints plain text, so plain text is all that is drawn.

import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { buffer, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { makeDataDir, removeDataDir } from '../../test/support/embedded-directories.ts';
import { drawText } from './draw-text.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PICTURE = fileURLToPath(new URL('../../docs/images/demo.svg', import.meta.url));

/** The picture ends before this line: what follows differs where the demo goes on. */
const END = 'Its Postgres stops now';

const directory = await makeDataDir();
try {
  const printed = await runDemo(directory);
  const end = printed.indexOf(END);
  if (end === -1)
    throw new Error(`the demo no longer prints "${END}": say in this file where the picture ends`);
  const shown = `$ npm run demo\n\n${printed.slice(0, end).trimEnd()}`;
  await writeFile(PICTURE, drawText('What npm run demo prints', shown));
} finally {
  await removeDataDir(directory);
}

/** Returns what the demo prints in an empty directory. Throws: Error with what it said where it failed. */
async function runDemo(cwd: string): Promise<string> {
  const child = spawn(process.execPath, [MAIN, 'demo', '--once'], {
    cwd,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), buffer(child.stderr)]);
  if ((await code) !== 0) throw new Error(`the demo failed:\n${stdout}${stderr}`);
  return stdout;
}
