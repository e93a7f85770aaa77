// Holds docs/retention.md to the program: every setting with its default, every table that is pruned.

import { expect, test } from 'vitest';
import type { Retention } from '../../../src/config/process/retention.ts';
import { VARIABLES } from '../../../src/config/variables.ts';
import { PRUNED_TABLES } from '../../../src/mirror/retention/pruned-tables.ts';
import { readTable } from '../../support/read-docs.ts';

const PAGE = 'docs/retention.md';
const COLUMNS = ['table', 'what a row is', 'bytes a row', 'rows a year', 'a year', 'setting', 'default'];
const FOR_EVER: Retention = { history: null, runs: null, rejected: null, attempts: null, drift: null };

test('every setting is on the page, with its default', () => {
  const rows = readTable(PAGE, 'What grows with time', COLUMNS);
  const settings = VARIABLES.filter(({ name }) => name.startsWith('RETENTION_'));
  expect(rows.map(([, , , , , setting, initial]) => [setting, initial]).toSorted()).toEqual(
    settings.map(({ name, default: initial }) => [`\`${name}\``, initial]).toSorted(),
  );
});

test('every table that loses rows is on the page: with a setting, or as bounded without one', () => {
  const shown = readTable(PAGE, 'What grows with time', COLUMNS).map(([table]) => table);
  const bounded = readTable(PAGE, 'What is bounded by itself', ['what', 'by what']).map(([what]) => what);
  const isSet = ({ keepDays }: (typeof PRUNED_TABLES)[number]) => keepDays(FOR_EVER) === null;
  const names = (tables: typeof PRUNED_TABLES) => tables.map(({ name }) => `\`${name}\``).toSorted();
  expect(names(PRUNED_TABLES.filter(isSet))).toEqual(shown.toSorted());
  for (const name of names(PRUNED_TABLES.filter((table) => !isSet(table)))) expect(bounded).toContain(name);
});

test('bytes a row times rows a year are the bytes of a year', () => {
  const number = (cell = '') => Number(cell.replaceAll(',', '').replace(/ MB$/, ''));
  for (const [table, , bytes, rows, year] of readTable(PAGE, 'What grows with time', COLUMNS)) {
    expect(Math.round((number(bytes) * number(rows)) / 1e6 / number(year)), table).toBe(1);
  }
});
