// Which keys are accepted, and that a key shows itself nowhere.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';

const directory = mkdtempSync(join(tmpdir(), 'affiliate-mirror-key-'));
afterAll(() => rmSync(directory, { recursive: true }));

function keyFile(text: string): string {
  const path = join(directory, `key-${text.length}`);
  writeFileSync(path, text);
  return path;
}

test('without PII, everything is kept and no key is needed', () => {
  expect(readConfig({}).program.personalData).toEqual({ mode: 'plain', key: null });
});

test('hash needs a key of 32 bytes, and shows it nowhere', () => {
  const secret = 'a key that is 32 bytes long, yes';
  const config = readConfig({ PII: 'hash', PII_KEY_FILE: keyFile(secret) });
  expect(config.program.personalData.key?.export().toString()).toBe(secret);
  expect(`${inspect(config, { depth: null })}${JSON.stringify(config)}`).not.toContain(secret);
});

test.each([
  ['no file', { PII: 'hash' }, 'PII_KEY_FILE is not set, and PII=hash needs it'],
  [
    'a missing file',
    { PII: 'hash', PII_KEY_FILE: '/nowhere/key' },
    'cannot be read (ENOENT: no such file or directory',
  ],
  ['a short key', { PII: 'hash', PII_KEY_FILE: keyFile('short') }, 'holds 5 bytes: a key needs at least 32'],
  ['a short key that is not needed', { PII_KEY_FILE: keyFile('short') }, 'holds 5 bytes'],
  ['another mode', { PII: 'none' }, 'PII must be one of plain, hash, omit'],
])('%s is one problem', (_, environment, problem) => {
  expect(() => readConfig(environment)).toThrow(problem);
  expect(() => readConfig(environment)).not.toThrow('\n');
});
