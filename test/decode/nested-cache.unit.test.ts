// What a run remembers of nested records: it must not grow with the program, nor hide a change.

import { expect, test } from 'vitest';
import { decodePage, makeDecoding } from '../../src/decode/decode-page.ts';
import { keyOf, makeNestedCache } from '../../src/decode/fast/nested-cache.ts';
import { buildAffiliate, buildReferral } from '../mirror/build-records.ts';
import { pageBytes } from '../mirror/page-bytes.ts';

const MOST_KEPT = 10_000;

test('of more records than it keeps, the one that was noted longest ago is forgotten', () => {
  const cache = makeNestedCache();
  const idOf = (number: number) => `${number}`.padStart(36, '0');
  const note = (number: number) =>
    cache.note('affiliates', {
      id: idOf(number),
      bytes: Buffer.from('{}'),
      owner: null,
      observedAtMicros: 1,
    });
  const isHeld = (number: number) => cache.find('affiliates', keyOf(idOf(number)))?.id === idOf(number);
  for (let number = 1; number <= MOST_KEPT; number += 1) note(number);
  expect(isHeld(1)).toBe(true);
  note(1);
  note(MOST_KEPT + 1);
  expect([isHeld(1), isHeld(2), isHeld(3), isHeld(MOST_KEPT + 1)]).toEqual([true, false, true, true]);
});

test('what is noted keeps its bytes where the page that it came from is overwritten', () => {
  const cache = makeNestedCache();
  const page = Buffer.from('{"id":1}');
  cache.note('links', { id: 'a', bytes: page, owner: null, observedAtMicros: 1 });
  page.fill(0);
  expect(cache.find('links', keyOf('a'))?.bytes.toString()).toBe('{"id":1}');
});

const affiliate = buildAffiliate();
const named = (first_name: string) => ({ ...affiliate, first_name });

/** Returns how many affiliates are loaded of each page, one referral to a page. */
function countLoaded(pages: readonly (readonly [second: number, referral: object])[]): number[] {
  const decoding = makeDecoding('referrals');
  return pages.map(([second, referral]) => {
    const decoded = decodePage(decoding, pageBytes([referral], `2026-07-01T00:00:0${second}Z`));
    return decoded?.data.rows.find(({ table }) => table === 'affiliates')?.ids.length ?? 0;
  });
}

const nesting = (nested: object, fields: object = {}) => buildReferral({ affiliate: nested, ...fields });

test('a record that was met again is as new as that: what differs and was asked for before it is superseded', () => {
  const [ada, eve] = [nesting(named('Ada')), nesting(named('Eve'))];
  expect(
    countLoaded([
      [1, ada],
      [3, ada],
      [2, eve],
      [4, eve],
      [5, eve],
      [6, ada],
    ]),
  ).toEqual([1, 0, 0, 1, 0, 1]);
});

test('a record that came in one which was parsed is loaded, and loaded again where it changes back', () => {
  // A field that is there twice, as JSON.parse would not spell it.
  const odd = nesting(named('Eve'), { processor_customer_id: 'one', stripe_customer_id: 'other' });
  const ada = nesting(named('Ada'));
  expect(
    countLoaded([
      [1, ada],
      [2, odd],
      [3, ada],
      [4, ada],
    ]),
  ).toEqual([1, 1, 1, 0]);
});

test('what a page brought that is no list to its end is loaded with the next one', () => {
  const decoding = makeDecoding('referrals');
  const { bytes, observedAt } = pageBytes([nesting(affiliate)], '2026-07-01T00:00:00Z');
  const broken = Buffer.from(bytes.toString().replace('}]', '},!]'));
  expect(decodePage(decoding, { bytes: broken, observedAt })).toBeNull();
  const decoded = decodePage(decoding, { bytes, observedAt });
  expect(decoded?.data.rows.map(({ table }) => table)).toContain('affiliates');
});
