// The text of a YAML file as mappings and values with their places. The only file that knows the parser; it takes a
// tenth of a second to load.
//
// No message quotes the file: a secret may be in it by mistake.

import { isAlias, isMap, isScalar, LineCounter, type Node, parseDocument, type YAMLError } from 'yaml';

/** Both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Entry {
  readonly key: string;
  readonly place: Place;
  readonly value: Value;
}

/** A scalar, the entries of a mapping in the file's order (a key may be there twice), or a list or what is deeper. */
export type Value = { readonly place: Place } & (
  | { readonly kind: 'scalar'; readonly scalar: unknown }
  | { readonly kind: 'mapping'; readonly entries: readonly Entry[] }
  | { readonly kind: 'other' }
);

export interface YamlProblem {
  readonly place: Place;
  readonly message: string;
}

/** The file, its programs, their keys; an alias may hold itself. */
const DEEPEST = 3;

/** Returns the file's value, or all of its problems. */
export function readYaml(
  text: string,
): { readonly root: Value } | { readonly problems: readonly YamlProblem[] } {
  const lines = new LineCounter();
  // Duplicates are the caller's: it knows whose they are.
  const document = parseDocument(text, { prettyErrors: false, lineCounter: lines, uniqueKeys: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [...document.errors, ...document.warnings].map((error) => ({
    place: placeAt(error.pos[0]),
    message: describe(error),
  }));
  if (problems.length > 0) return { problems: firstOfEachLine(problems) };

  const read = (node: Node | null | undefined, from: Place, depth: number): Value => {
    const place = node?.range ? placeAt(node.range[0]) : from;
    const target = isAlias(node) ? node.resolve(document) : node;
    if (isMap(target) && depth < DEEPEST) {
      const entries = target.items.map(({ key, value }) => {
        const at = placeAt((key as Node).range?.[0] ?? 0);
        return { key: textOfKey(key), place: at, value: read(value as Node | null, at, depth + 1) };
      });
      return { place, kind: 'mapping', entries };
    }
    if (target === null || target === undefined) return { place, kind: 'scalar', scalar: null };
    return isScalar(target) ? { place, kind: 'scalar', scalar: target.value } : { place, kind: 'other' };
  };
  return { root: read(document.contents, { line: 1, column: 1 }, 0) };
}

/** As it is written: the name `true` is a text like any other. Empty if the key is no scalar. */
function textOfKey(key: unknown): string {
  if (!isScalar(key)) return '';
  return typeof key.value === 'string' ? key.value : (key.source ?? '');
}

/** A parser that has lost its way finds further ones in the same line. */
function firstOfEachLine(problems: readonly YamlProblem[]): readonly YamlProblem[] {
  return [...Map.groupBy(problems, ({ place }) => place.line).values()].flatMap((ofLine) =>
    ofLine.slice(0, 1),
  );
}

/** The parser's own words where they quote nothing of the file. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'MULTIPLE_ANCHORS',
  'MULTIPLE_DOCS',
  'MULTIPLE_TAGS',
  'TAB_AS_INDENT',
]);

function describe({ code, message }: YAMLError): string {
  const what = OWN_WORDS.has(code) ? message : `the parser cannot go on (${code})`;
  return `is no valid YAML: ${what}. Quotation marks are needed around a value that begins with * or another sign, or has ": " or " #" in it`;
}
