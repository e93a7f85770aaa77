// What a run remembers of nested records: it must not grow with the program, nor hide a change.

import { expect, test } from 'vitest';
import { makeLoadedCache } from '../../src/records/loaded-cache.ts';

const MOST_KEPT = 10_000;

function full() {
  const cache = makeLoadedCache();
  const note = (id: number) =>
    cache.note('affiliates', String(id), { record: { id }, owner: null, observedAtMicros: 1 });
  const isHeld = (id: number) => cache.find('affiliates', String(id)) !== undefined;
  for (let id = 1; id <= MOST_KEPT; id += 1) note(id);
  return { note, isHeld };
}

test('of more records than it keeps, the one that was noted longest ago is forgotten', () => {
  const { note, isHeld } = full();
  expect(isHeld(1)).toBe(true);
  note(1);
  note(MOST_KEPT + 1);
  expect([isHeld(1), isHeld(2), isHeld(3), isHeld(MOST_KEPT + 1)]).toEqual([true, false, true, true]);
});

test('a record that was met again is as new as that: what differs and was asked for before it is superseded', () => {
  const cache = makeLoadedCache();
  const meet = (name: string, at: number) => cache.meet('affiliates', 'a', { name }, null, at);
  cache.note('affiliates', 'a', { record: { name: 'Ada' }, owner: null, observedAtMicros: 10 });
  expect(meet('Ada', 30)).toBe('same');
  expect(meet('Eve', 20)).toBe('superseded');
  expect(meet('Eve', 40)).toBe('unknown');
  cache.note('affiliates', 'a', { record: { name: 'Old' }, owner: null, observedAtMicros: 5 });
  expect(cache.find('affiliates', 'a')).toEqual({ name: 'Ada' });
});
