// Which events a source file writes to the log: name, level and fields, read from its syntax tree.

import { literalOf, type Node, nameOf, readNodes } from './read-imports.ts';

export interface LogEvent {
  readonly name: string;
  readonly level: string;
  /** Those that are written where it is logged; `hasMore` says that an object is spread among them. */
  readonly fields: readonly string[];
  readonly hasMore: boolean;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Functions that log an event under the name that they are handed as their last argument. */
const HELPERS: Readonly<Record<string, Omit<LogEvent, 'name'>>> = {
  makeQuietWarning: { level: 'warn', fields: ['reason'], hasMore: false },
};
/** Where such a function logs it. */
const HELPER_FILES = ['base/quiet-warning.ts'];

/**
 * Returns the events of the file, in order.
 *
 * Throws: Error where the name of an event is computed.
 */
export function readLogEvents(text: string, path: string): LogEvent[] {
  return readNodes(text).flatMap((node) => {
    if (node.type !== 'CallExpression') return [];
    const call = readCall(node);
    if (call === null || (HELPER_FILES.includes(path) && call.level === 'warn')) return [];
    const names = namesOf(argumentsOf(node).at(-1));
    if (names.length === 0) throw new Error(`${path} logs an event whose name is computed: write it out`);
    return names.map((name) => ({ ...call, name }));
  });
}

function readCall(node: Node): Omit<LogEvent, 'name'> | null {
  const callee = node['callee'] as Node;
  const helper = HELPERS[nameOf(callee) ?? ''];
  if (helper !== undefined) return helper;
  const level = nameOf(callee['property']) ?? '';
  if (callee.type !== 'MemberExpression' || !LEVELS.includes(level) || !isLog(callee['object'])) return null;
  const [first] = argumentsOf(node);
  const properties = first?.type === 'ObjectExpression' ? (first['properties'] as readonly Node[]) : [];
  const fields = properties.flatMap(({ key }) => nameOf(key) ?? []);
  const isObject = first?.type === 'ObjectExpression' || argumentsOf(node).length === 1;
  return { level, fields, hasMore: !isObject || fields.length < properties.length };
}

// `log`, or the `log` of something.
function isLog(value: unknown): boolean {
  return nameOf(value) === 'log' || nameOf((value as Node)['property']) === 'log';
}

function argumentsOf(node: Node): readonly Node[] {
  return node['arguments'] as readonly Node[];
}

function namesOf(node: Node | undefined): string[] {
  if (node?.type === 'ConditionalExpression') {
    return [...namesOf(node['consequent'] as Node), ...namesOf(node['alternate'] as Node)];
  }
  const name = literalOf(node);
  return name === undefined ? [] : [name];
}
