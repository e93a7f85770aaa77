// The hashes that an analyst computes as the page says are those of the mirror.

import { spawnSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashValue, normalise } from '../../../src/mirror/people/values.ts';
import { BLOCKS } from '../../support/read-docs.ts';

const KEY = Buffer.from('thirty-two bytes, not one fewer.');

/** The mirror's, as treat-fields.ts stores it. */
function stored(value: string, isAddress: boolean): string {
  const normalised = normalise(value, isAddress);
  return normalised === '' ? '' : hashValue(createSecretKey(KEY), normalised);
}

test('any value has the hash that the page computes in Python', () => {
  const snippet = BLOCKS.find(
    ({ page, language }) => page === 'docs/personal-data.md' && language === 'python',
  );
  const given: [string, boolean][] = [
    // Python knows how to spell the domains that people register, and nothing of the rules for any other text.
    ...fc
      .sample(fc.tuple(fc.string({ unit: 'grapheme' }), fc.boolean()), 2000)
      .filter(([value, isAddress]) => !isAddress || !value.includes('@')),
    ...[
      '',
      ' ',
      '\u001c Ada\u0085',
      '\ufeff\u2003Zoe\u0308\u00a0',
      'ΑΣ',
      'İ@example.com',
      ' Jane@Example.com\n',
      'Jane@MÜNCHEN.de',
      'jane@xn--mnchen-3ya.de',
      'a@b@mu\u0308nchen.Straße.example',
      'jane@ＥＸＡＭＰＬＥ.中国',
    ].flatMap((value) => [[value, true] as [string, boolean], [value, false] as [string, boolean]]),
  ];
  const program = `${snippet?.text}
import json, sys
print(json.dumps([hashed(b"${KEY}", value, is_address) for value, is_address in json.load(sys.stdin)]))`;
  const python = spawnSync('python3', ['-c', program], { input: JSON.stringify(given), encoding: 'utf8' });
  expect(python.stderr).toBe('');
  expect(JSON.parse(python.stdout)).toEqual(given.map(([value, isAddress]) => stored(value, isAddress)));
});
