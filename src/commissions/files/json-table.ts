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
    for (const name of findRepeated(source)) {
      problems.push({ line, problem: `${quote(name)} is in the object more than once: keep one of them` });
    }
  });
  const form = { kind: 'ndjson' } as const;
  if (objects.length === 0) {
    return brokenTable(
      form,
      'no line is a whole JSON object: write each object on a line of its own (jq -c . FILE)',
    );
  }
  const [list = null] = objects.length === 1 ? findLists(objects[0]?.object ?? {}) : [];
  if (list !== null) {
    return brokenTable(
      form,
      `the rows are a list in ${quote(list)}: write one object a line instead (jq -c ".${list}[]" FILE)`,
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
    areRowsUnsure: false,
    notes: [],
  };
}

/** Returns the names of those fields that are lists of objects. */
function findLists(object: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(object).filter((name) => {
    const value = object[name];
    return (
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((one) => typeof one === 'object' && one !== null)
    );
  });
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

/** Strings, each with the colon that makes a name of it, and what opens or closes an object or a list. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[[\]{}]/g;

/** Returns the names that the object has more than once, of which JSON.parse keeps the last without a word. */
function findRepeated(object: string): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  let depth = 0;
  for (const [token, text, colon] of object.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && text !== undefined && colon !== undefined) {
      const name = String(JSON.parse(text));
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
    }
  }
  return repeated;
}
