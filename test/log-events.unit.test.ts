// The events of the log: docs/traces-and-logs.md names those of the program, and no other.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, readTable } from './support/read-docs.ts';
import { type LogEvent, readLogEvents } from './support/read-log-events.ts';

const SRC = join(ROOT, 'src');
const EVENTS = globSync('**/*.ts', { cwd: SRC })
  .toSorted()
  .flatMap((path) => readLogEvents(readFileSync(join(SRC, path), 'utf8'), path));
const ROWS = readTable('docs/traces-and-logs.md', 'Events', ['event', 'when']);

function describe(events: readonly LogEvent[]): string {
  const levels = [...new Set(events.map(({ level }) => level))].toSorted().join(', ');
  return `${events[0]?.name} ${levels}`;
}

test('are listed with their levels, each once, in order', () => {
  const byName = Object.values(Object.groupBy(EVENTS, ({ name }) => name));
  const inCode = byName.map((events) => describe(events ?? [])).toSorted();
  expect(ROWS.map(([cell = '']) => cell.replaceAll('`', ''))).toEqual(inCode);
  expect(inCode.length).toBeGreaterThan(50);
});

test('and their fields are spelled in one way', () => {
  const names = EVENTS.map(({ name }) => name).filter((name) => !/^[a-z]+\.[a-z]+(?:_[a-z]+)*$/.test(name));
  expect(names).toEqual([]);
  const fields = EVENTS.flatMap((event) => event.fields);
  expect(fields.filter((field) => !/^[a-z]+(?:_[a-z]+)*$/.test(field))).toEqual([]);
});

test('the reader sees calls of several lines, both names of a choice, helpers and spread fields', () => {
  const text = `
    deps.log.warn(
      { reason, ...more },
      isOdd ? 'a.b' : 'a.c',
    );
    log.info('a.d');
    const warn = makeQuietWarning({ log }, 'a.e');
    command.error('no event');
    // log.info('a.comment');
  `;
  expect(readLogEvents(text, 'x.ts')).toEqual([
    { name: 'a.b', level: 'warn', fields: ['reason'], hasMore: true },
    { name: 'a.c', level: 'warn', fields: ['reason'], hasMore: true },
    { name: 'a.d', level: 'info', fields: [], hasMore: false },
    { name: 'a.e', level: 'warn', fields: ['reason'], hasMore: false },
  ]);
  expect(() => readLogEvents('log.info(name)', 'x.ts')).toThrow('x.ts');
});
