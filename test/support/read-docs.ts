// Reads the Markdown of the pages for people: those at the top level and docs/.

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Page {
  /** Below the project's directory, with slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  readonly page: string;
  /** As written behind the fence; empty where nothing is. */
  readonly language: string;
  readonly text: string;
  /** The paragraph before the block. */
  readonly before: string;
}

const TOP_LEVEL = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

const PATHS = [...TOP_LEVEL, ...globSync('docs/**/*.md', { cwd: ROOT }).toSorted()];

/** Every page, the README first. */
export const PAGES: readonly Page[] = PATHS.map((path) => ({
  path,
  text: readFileSync(`${ROOT}/${path}`, 'utf8'),
}));

/** Every fenced block of every page, in order. */
export const BLOCKS: readonly Block[] = PAGES.flatMap(readBlocks);

function readBlocks({ path, text }: Page): Block[] {
  const parts = text.split(/^```/m);
  // Every second part is a block between two fences; its language is on the fence's own line.
  return parts.flatMap((part, index): Block[] => {
    if (index % 2 === 0) return [];
    const end = part.indexOf('\n');
    const before = parts[index - 1]?.trimEnd().split('\n\n').at(-1) ?? '';
    return [{ page: path, language: part.slice(0, end), text: part.slice(end + 1), before }];
  });
}

/** Returns a page's text without its blocks and its `inline code`. */
export function proseOf({ text }: Page): string {
  return text.replace(/```.*?```/gs, '').replace(/`[^`]*`/g, '');
}

/**
 * Returns the cells of the page's table that has this header, under that heading.
 *
 * Throws: Error where there is none.
 */
export function readTable(path: string, heading: string, header: readonly string[]): string[][] {
  const text = PAGES.find((page) => page.path === path)?.text ?? '';
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n');
  const start = lines.indexOf(`| ${header.join(' | ')} |`);
  if (start === -1) throw new Error(`${path} needs the table | ${header.join(' | ')} | under "${heading}"`);
  const rest = lines.slice(start + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

export type Command =
  | { readonly kind: 'export'; readonly names: readonly string[] }
  | { readonly kind: 'npm'; readonly script: string; readonly args: readonly string[] }
  | { readonly kind: 'install'; readonly args: readonly string[] }
  | { readonly kind: 'cli'; readonly args: readonly string[] }
  | { readonly kind: 'curl'; readonly url: string };

export type PlacedCommand = Command & { readonly page: string; readonly line: string };

/**
 * Returns the commands of the shell blocks, in order; what follows a `#` is a comment.
 *
 * Throws: Error on a line that is of no kind which a test runs.
 */
export function readCommands(blocks: readonly Block[]): PlacedCommand[] {
  return blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ page, text }) =>
      text.split('\n').map((line) => ({ page, line: line.replace(/\s+# .*/, '') })),
    )
    .filter(({ line }) => line.trim() !== '')
    .flatMap(({ page, line }) =>
      line.split(' && ').map((command) => ({ ...parseCommand(command, page), page, line })),
    );
}

function parseCommand(command: string, page: string): Command {
  const [executable = '', ...args] = splitWords(command.replace(/\s+> \S+$/, ''));
  if (executable === 'export') return { kind: 'export', names: args.map((word) => word.split('=')[0] ?? '') };
  if (executable === 'npx' && args[0] === 'affiliate-mirror') return { kind: 'cli', args: args.slice(1) };
  if (executable === 'affiliate-mirror') return { kind: 'cli', args };
  if (executable === 'curl' && args.length === 1) return { kind: 'curl', url: args[0] ?? '' };
  if (executable === 'npm' && args[0] === 'install') return { kind: 'install', args: args.slice(1) };
  if (executable === 'npm' && args[0] === 'run') {
    const [script = '', dashes, ...rest] = args.slice(1);
    if (dashes === undefined || dashes === '--') return { kind: 'npm', script, args: rest };
  }
  if (executable === 'npm' && args.length === 1) return { kind: 'npm', script: args[0] ?? '', args: [] };
  throw new Error(`${page}: no test runs "${command}"`);
}

function splitWords(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
