// Reads one JSON object a line as a raw table: its header has every key, in the order in which they first appear. Pure.

import { quote } from '../timestamps.ts';
import type { FindColumn } from './header-place.ts';
import { brokenTable, type Problem, type RawCell, type RawRow, type RawTable } from './raw-table.ts';

/** Returns the table; a value that is an object or a list is a problem where its key is a column that is read. */
export function readJsonLines(text: string, find: FindColumn): RawTable {
  const problems: Problem[] = [];
  const objects: { line: number; object: Readonly<Record<string, unknown>> }[] = [];
  const broken: RawRow[] = [];
  text.split('\n').forEach((source, index) => {
    if (source.trim() === '') return;
    const line = index + 1;
    const object = parseObject(source);
    if (object === null) {
      const text = source.trim();
      broken.push({ line, cells: [text], broken: `${quote(text)} is not one JSON object` });
      return;
    }
    objects.push({ line, object });
  });
  const form = { kind: 'ndjson' } as const;
  if (objects.length === 0) {
    return brokenTable(
      form,
      'no line is a whole JSON object: write each object on a line of its own (jq -c . FILE)',
    );
  }
  const names = [...new Set(objects.flatMap(({ object }) => Object.keys(object)))];
  const rows = objects.map(({ line, object }) => {
    const cells = names.map((name): RawCell => {
      const value = object[name] ?? null;
      if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value as RawCell;
      const json = JSON.stringify(value);
      if (find(name) !== null) {
        const problem = `${name} must be a text or a number (or true or false), not ${json}`;
        problems.push({ line, problem });
      }
      return json;
    });
    return { line, cells };
  });
  return {
    form,
    header: { line: 1, names },
    rows: [...rows, ...broken].toSorted((a, b) => a.line - b.line),
    problems,
    notes: [],
  };
}

function parseObject(source: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(source);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}
