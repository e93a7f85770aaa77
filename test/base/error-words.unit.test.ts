// What pages and alerts say of an error's code is what the documentation says.

import { expect, test } from 'vitest';
import { ERROR_WORDS } from '../../src/base/error-words.ts';
import { readTable } from '../support/read-docs.ts';

test('the words of each error are those of the documentation', () => {
  const rows = readTable('docs/configuration.md', 'Errors', ['code', 'meaning']);
  const plain = (text = '') => text.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');
  expect(ERROR_WORDS).toEqual(
    Object.fromEntries(rows.map(([code, meaning]) => [plain(code), plain(meaning)])),
  );
});
