// Which modules a source file imports, and whether it reads the environment. Works on the syntax tree, so that
// comments and strings do not count and every way to write an import does.

import { parseAst } from 'rolldown/parseAst';

export interface Import {
  readonly target: string;
  /** Nothing of it remains at run time. */
  readonly isType: boolean;
  readonly names: readonly string[];
}

/** Returns whether the text reads `process.env`. */
export function readsEnvironment(text: string): boolean {
  return readNodes(text).some(isEnvironment);
}

/** A node of the syntax tree. */
export type Node = Readonly<Record<string, unknown>> & { readonly type: string };

/** Returns every node of a TypeScript file's syntax tree. */
export function readNodes(text: string): Node[] {
  return nodesOf(parse(text));
}

function parse(text: string): unknown {
  return parseAst(text, { lang: 'ts' });
}

function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (!isNode(value)) return [];
  return [value, ...Object.values(value).flatMap(nodesOf)];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function isEnvironment(node: Node): boolean {
  return (
    node.type === 'MemberExpression' &&
    nameOf(node['object']) === 'process' &&
    (nameOf(node['property']) === 'env' || literalOf(node['property']) === 'env')
  );
}

/**
 * Returns every import of a TypeScript file, in order: statements, re-exports, `import()`, `require()` and types.
 *
 * Throws: Error naming the file where the target is computed.
 */
export function readImports(text: string, path: string): Import[] {
  return readNodes(text).flatMap((node) => {
    const source = sourceOf(node);
    if (source === undefined) return [];
    const target = literalOf(source);
    if (target === undefined) throw new Error(`${path} imports something computed: name it`);
    const specifiers = (node['specifiers'] ?? []) as readonly Node[];
    const isType =
      node.type === 'TSImportType' ||
      node['importKind'] === 'type' ||
      node['exportKind'] === 'type' ||
      (specifiers.length > 0 &&
        specifiers.every((one) => one['importKind'] === 'type' || one['exportKind'] === 'type'));
    const names = specifiers.flatMap((one) => nameOf(one['imported'] ?? one['local']) ?? []);
    return [{ target, isType, names }];
  });
}

function sourceOf(node: Node): unknown {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return node['source'];
    case 'ExportNamedDeclaration':
      return node['source'] ?? undefined;
    case 'CallExpression':
      return nameOf(node['callee']) === 'require' ? (node['arguments'] as readonly unknown[])[0] : undefined;
    default:
      return undefined;
  }
}

/** Returns the name of an identifier. */
export function nameOf(value: unknown): string | undefined {
  return isNode(value) && typeof value['name'] === 'string' ? value['name'] : undefined;
}

/** Returns the text of a string in quotes. */
export function literalOf(value: unknown): string | undefined {
  return isNode(value) && typeof value['value'] === 'string' ? value['value'] : undefined;
}
