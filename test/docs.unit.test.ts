// Holds the pages for people to the program: tables both ways, links, words, and the places that a change touches.
// What the pages tell to run is run by end-to-end/docs.long.test.ts.

import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../src/cli/exit-code.ts';
import { FINDINGS } from '../src/commissions/books/reconcile-books.ts';
import { BATCH_COLUMNS } from '../src/commissions/files/batch-file.ts';
import { VARIABLES } from '../src/config/variables.ts';
import { DELTA_BLIND_SPOTS } from '../src/contract/delta-blind-spots.ts';
import { END_STATES } from '../src/contract/payment-request.ts';
import { CONCERN_CODES } from '../src/reports/find-concerns.ts';
import { BLOCKS, PAGES, proseOf, ROOT, readCommands, readTable } from './support/read-docs.ts';

const CONFIGURATION = 'docs/configuration.md';
const FINANCE = 'docs/finance.md';
const CONTRIBUTING = 'docs/contributing.md';
const CONTRACT = 'docs/api-contract.md';
const DEPLOYMENT = 'docs/deployment.md';

/** Private or literary words for what has a usual one: returns, fix, is, stop, time. */
const ODD_WORDS = [
  'gives? back',
  'gave back',
  'given back',
  'mend',
  'mended',
  'stand',
  '(?:is|are|be) told',
  'told to',
  'unshaken',
  'whereabout',
  'instant',
];

const code = (text: string) => `\`${text}\``;
/** What is between backticks in the cell. */
const codesIn = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');

describe('the table of', () => {
  test("variables is the program's", () => {
    expect(readTable(CONFIGURATION, 'Variables', ['variable', 'meaning', 'default'])).toEqual(
      VARIABLES.map((variable) => [code(variable.name), variable.meaning, variable.default]),
    );
  });

  test("exit codes is the program's", () => {
    expect(readTable(CONFIGURATION, 'Exit codes', ['code', 'meaning'])).toEqual(
      EXIT_CODES.map((exit) => [code(String(exit.code)), exit.meaning]),
    );
  });

  test('exit codes for schedulers names them all', () => {
    const rows = readTable('docs/data-engineer.md', 'Schedule', [
      'exit code',
      'what your scheduler should do',
    ]);
    expect(rows.flatMap(([cell]) => codesIn(cell))).toEqual(EXIT_CODES.map((exit) => String(exit.code)));
  });

  test('errors names every error of the catalogue and no other', () => {
    const codes = readTable(CONFIGURATION, 'Errors', ['code', 'meaning']).map(([cell]) => cell);
    expect(codes.toSorted()).toEqual(readErrorCodes().map(code).toSorted());
  });

  test("concerns is the program's", () => {
    const rows = readTable('docs/operations.md', 'When something is wrong', ['code', 'what it means']);
    expect(rows.map(([cell]) => cell)).toEqual(CONCERN_CODES.map(code));
  });

  test('promises names a test for each, by its file and its title', () => {
    const header = ['what happens', 'what is promised', 'shown by'];
    const rows = readTable('docs/operations.md', 'What is promised when things break', header);
    const unknown = rows.flatMap(([what, , shown = '']) => {
      const tests = [...shown.matchAll(/`([^`]+)`: (.+?)(?=; `|$)/g)];
      const missing = tests.filter(([, file, title = '']) => {
        const path = join(ROOT, 'test', `${file}.test.ts`);
        return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
      });
      return tests.length === 0 ? [what] : missing.map(([name]) => name);
    });
    expect(unknown).toEqual([]);
  });

  test("states of a request is the writer's", () => {
    const rows = readTable(FINANCE, 'How a request is carried out', ['state', 'meaning', 'what to do']);
    expect(rows.map(([state]) => state)).toEqual(['pending', ...END_STATES].map(code));
  });

  test("findings is the reconciliation's", () => {
    const rows = readTable(FINANCE, 'Comparing your books with the program', ['finding', 'meaning']);
    expect(rows.map(([finding]) => finding)).toEqual(Object.keys(FINDINGS).map(code));
  });

  test('columns of a payout file names those that are read', () => {
    const rows = readTable(FINANCE, 'A payout file', ['column', 'meaning']);
    expect(rows.flatMap(([cell]) => codesIn(cell)).toSorted()).toEqual([...BATCH_COLUMNS].toSorted());
  });
});

test('every case of a deployment names a test that is there', () => {
  const { text } = PAGES.find(({ path }) => path === DEPLOYMENT) ?? { text: '' };
  const header = ['Case', 'What happens', 'Test'];
  const headings = [...text.matchAll(/^#+ (.+)\n(?:(?!^#).*\n)*?\| Case \| What happens \| Test \|$/gm)];
  expect(headings.length).toBe(text.split(`| ${header.join(' | ')} |`).length - 1);
  const rows = headings.flatMap(([, heading = '']) => readTable(DEPLOYMENT, heading, header));
  expect(rows.length).toBeGreaterThan(0);
  const lacking = rows.filter(([name = '', , cell = '']) => {
    const [file = ''] = codesIn(cell);
    const words = cell.split('`: ')[1] ?? name.replaceAll('`', '');
    return !existsSync(join(ROOT, file)) || !readFileSync(join(ROOT, file), 'utf8').includes(words);
  });
  expect(lacking).toEqual([]);
});

test('what a delta does not see is listed as the program says it', () => {
  const page = PAGES.find(({ path }) => path === 'docs/data-engineer.md')?.text.replaceAll("'", '’');
  for (const spot of DELTA_BLIND_SPOTS) expect(page).toContain(`- ${spot}`);
});

test('every link leads to a page or a heading that is there', () => {
  const broken = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^https?:/.test(target)) return [];
      const [file = '', heading] = target.split('#');
      const linked = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, linked))) return [`${path}: ${target}`];
      if (heading === undefined || headingsOf(linked).includes(heading)) return [];
      return [`${path}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('what a comment names as its source is a section of the contract', () => {
  const sections = readFileSync(join(ROOT, CONTRACT), 'utf8').matchAll(/^##+ (.+)$/gm);
  const known = [...sections].map(([, title]) => title);
  const named = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: ROOT }).flatMap((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/\n *(?:\*|\/\/) */g, ' ');
    return [...text.matchAll(/(?:[Ss]ource[a-z ]*: |\()contract, ([A-Z][^.():*]*)/g)].flatMap(
      ([, list = '']) =>
        list
          .split(/[;,]| and /)
          .map((part) => part.replace(/\d+/, '').trim())
          .filter((part) => part !== '')
          .map((section) => ({ path, section })),
    );
  });
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ section }) => !known.includes(section))).toEqual([]);
});

test('every page is linked from the README', () => {
  const readme = PAGES[0]?.text ?? '';
  const lacking = PAGES.slice(1).filter(({ path }) => !readme.includes(`](${path})`));
  expect(lacking.map(({ path }) => path)).toEqual([]);
});

test('every file of the project that a page names is there', () => {
  const missing = PAGES.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:src|test|migrations)\/[\w./-]+)`/g)]
      .filter(([, file = '']) => path !== 'CHANGELOG.md' && !existsSync(join(ROOT, file)))
      .map(([, file]) => `${path}: ${file}`),
  );
  expect(missing).toEqual([]);
});

test("the README's tree names every room, and no other", () => {
  const tree = BLOCKS.find(({ page, text }) => page === 'README.md' && text.startsWith('src/'))?.text ?? '';
  const named = [...tree.matchAll(/^src\/(\S+)\//gm)].map(([, room]) => room);
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(named.toSorted()).toEqual(rooms.map(({ name }) => name).toSorted());
});

test('no page uses a word that the glossary replaces by another', () => {
  const words = readTable('docs/glossary.md', 'Glossary', ['word', 'meaning', 'not']);
  const refused = words.flatMap(([, , not = '']) => not.split(', ').filter((word) => word !== ''));
  const pattern = new RegExp(`\\b(?:${[...refused, ...ODD_WORDS].join('|')})s?\\b`, 'gi');
  const found = PAGES.filter(({ path }) => path !== 'docs/glossary.md').flatMap((page) =>
    [...proseOf(page).matchAll(pattern)].map(([word]) => `${page.path}: ${word}`),
  );
  expect(found).toEqual([]);
});

test('no code, message or comment of the program uses an odd word where a usual one will do', () => {
  const pattern = new RegExp(`\\b(?:${ODD_WORDS.join('|')})s?\\b`, 'gi');
  const files = globSync(['src/**/*.ts', 'migrations/*.sql'], { cwd: ROOT });
  const found = files.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(pattern)].map(([word]) => `${path}: ${word}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

test('every block is in a language that a test runs or reads, and every line of a shell is run', () => {
  const languages = ['sh', 'sql', 'python', 'js', 'ts', 'csv', 'mermaid', ''];
  expect(BLOCKS.filter(({ language }) => !languages.includes(language))).toEqual([]);
  expect(readCommands(BLOCKS).length).toBeGreaterThan(20);
});

test('what a shell exports are variables of the program', () => {
  const names = readCommands(BLOCKS).flatMap((command) => (command.kind === 'export' ? command.names : []));
  expect(VARIABLES.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

test('every script of npm that the pages name is in package.json', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = readCommands(BLOCKS).flatMap((command) => (command.kind === 'npm' ? [command.script] : []));
  expect(['ci', ...Object.keys(scripts)]).toEqual(expect.arrayContaining(named));
});

test('every still of the terminal is on its page, and small enough for it', () => {
  const page = PAGES.find(({ path }) => path === 'docs/terminal.md')?.text ?? '';
  const stills = globSync('docs/images/terminal/*.svg', { cwd: ROOT });
  expect(stills.length).toBeGreaterThan(0);
  expect(stills.filter((path) => !page.includes(`](${path.replace('docs/', '')})`))).toEqual([]);
  for (const path of stills) expect(statSync(join(ROOT, path)).size, path).toBeLessThan(50_000);
});

test('the picture of the demo is small enough for a page', () => {
  const path = join(ROOT, 'docs/images/demo.svg');
  expect(statSync(path).size).toBeLessThan(100_000);
  const width = /<svg [^>]*width="(\d+)"/.exec(readFileSync(path, 'utf8'))?.[1];
  expect(Number(width)).toBeLessThanOrEqual(1000);
});

// A field that means nothing to the program but itself.
const FIELD = 'max_commission_period_months';

test('the places that a new field touches are those that the page lists', () => {
  const files = globSync([CONTRACT, 'src/**/*.ts', 'test/**/*.ts', 'migrations/*.sql'], { cwd: ROOT });
  const naming = files.filter(
    (path) => !path.endsWith('.test.ts') && readFileSync(join(ROOT, path), 'utf8').includes(FIELD),
  );
  const rows = readTable(CONTRIBUTING, 'The places of a field', ['place', 'what it says']);
  const listed = rows.map(([cell]) => codesIn(cell)[0]);
  expect(listed.toSorted()).toEqual(naming.toSorted());
  expect(PAGES.find(({ path }) => path === CONTRIBUTING)?.text).toContain(`named in ${naming.length} places`);
});

test('where things belong is said in ten lines', () => {
  const page = PAGES.find(({ path }) => path === CONTRIBUTING)?.text ?? '';
  const lines = page
    .split(/^#+ /m)
    .find((part) => part.startsWith('Where things belong\n'))
    ?.match(/^- /gm);
  expect(lines).toHaveLength(10);
});

/** Returns the anchors of a page's headings, as code hosts make them. */
function headingsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replace(/```.*?```/gs, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function readErrorCodes(): string[] {
  const text = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8');
  const codes = [...text.matchAll(/(?:errorOf\(|readonly code = )'([A-Z_]+)'/g)];
  return codes.map(([, code = '']) => code);
}
