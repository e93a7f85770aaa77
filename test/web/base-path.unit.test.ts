// Addresses of the site below a path, and back.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOf, pathOf } from '../../src/web/base-path.ts';

const path = fc
  .array(fc.stringMatching(/^[\w-]{1,8}$/), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);

test('every address of the site leads back to its path, with its query', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', '/a', '/a/b.c'),
      path,
      fc.constantFrom('', '?x=1?2'),
      (base, at, query) => {
        expect(pathOf(base, `${addressOf(base, at)}${query}`)).toBe(`${at}${query}`);
      },
    ),
  );
});

test.each(['http://elsewhere/', '*', '', '/%', '/%ff', 'a', '/other/a'])(
  'the address %j is none of the site',
  (url) => {
    expect(pathOf('/base', url)).toBe('/-');
  },
);
