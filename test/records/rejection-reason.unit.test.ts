import { expect, test } from 'vitest';
import { parseJson } from '../../src/contract/parse-json.ts';
import { quoteJson } from '../../src/records/rejection-reason.ts';

test('a number that no double holds is not quoted as the null that JSON makes of it', () => {
  expect(quoteJson(parseJson('1e400'))).toBe('a number that is too large');
  expect(quoteJson(parseJson('null'))).toBe('null');
});
