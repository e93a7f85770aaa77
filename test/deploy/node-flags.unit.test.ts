// Node reads its flags only when it starts, so whatever starts the command names them: all as the first line of
// main.ts.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/read-docs.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const [, flags = ''] = /^#!\/usr\/bin\/env -S node (.+)\n/.exec(read('src/main.ts')) ?? [];

/** How often each file starts the command; a unit's ExecStartPre is none of them, as it is over in a moment. */
const STARTS = {
  'package.json': 2,
  Dockerfile: 1,
  'docker-compose.yml': 1,
  'docs/deploy/affiliate-mirror.service': 1,
  'docs/deployment.md': 1,
};

test.each(Object.entries(STARTS))('%s starts the command with the flags of its first line', (path, times) => {
  const plain = read(path).replaceAll('", "', ' ').replaceAll('"', ' ');
  const found = [...plain.matchAll(/node ((?:--\S+ )*)\S*(?:src\/main\.ts|dist\/main\.js)(?! migrate)/g)];
  expect(found.map(([, named]) => named?.trim())).toEqual(Array.from({ length: times }, () => flags));
});

test('the flags are known to Node', () => {
  const { status, stderr } = spawnSync(process.execPath, [...flags.split(' '), '--eval', '0'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
