// Holds the pages for people to the program: tables both ways, links, words, and the places that a change touches.
// What the pages tell to run is run by end-to-end/docs.long.test.ts.

import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import type { Cli, CommandFile } from '../src/cli/cli.ts';
import { EXIT_CODES } from '../src/cli/exit-code.ts';
import { PROGRAM_KEYS, VARIABLES } from '../src/config/variables.ts';
import { DELTA_BLIND_SPOTS } from '../src/contract/delta-blind-spots.ts';
import { END_STATES } from '../src/contract/payment-request.ts';
import { FINDINGS } from '../src/payments/books/reconcile-books.ts';
import { BATCH_COLUMNS } from '../src/payments/files/batch-file.ts';
import { CONCERN_CODES, IF_IT_STAYS } from '../src/reports/concern-advice.ts';
import { DEPLOYMENT_CASES, PROMISES } from './promises.ts';
import { BLOCKS, PAGES, proseOf, ROOT, readCommands, readTable } from './support/read-docs.ts';

const CONFIGURATION = 'docs/configuration.md';
const FINANCE = 'docs/finance.md';
const CONTRIBUTING = 'CONTRIBUTING.md';
const CONTRACT = 'docs/api-contract.md';
const DEPLOYMENT = 'docs/deployment.md';

/** A function, and the file that has it. */
const FUNCTION = /`(\w+)` \(`((?:src|migrations)\/[\w./-]+)`\)/g;

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

  test("keys of PROGRAMS_FILE is the program's", () => {
    expect(readTable(CONFIGURATION, 'Several programs', ['key', 'in place of'])).toEqual(
      PROGRAM_KEYS.map(({ key, variable }) => [code(key), code(variable)]),
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

  test('exit code 3 says of each command that ends with it where its reason is', () => {
    const rows = readTable(CONFIGURATION, 'Exit codes', ['exit code 3 of', 'where its reason is']);
    const words = rows.flatMap(([cell]) => codesIn(cell)).flatMap((name) => name.split(' '));
    const files = globSync('src/cli/commands/*.ts', { cwd: ROOT }).filter((path) =>
      readFileSync(join(ROOT, path), 'utf8').includes('Exit code 3'),
    );
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) {
      expect(words).toEqual(expect.arrayContaining(basename(file, '.ts').split('-')));
    }
    const places = rows.flatMap(([, cell]) => codesIn(cell).map((place) => place.split(' ')[0]));
    expect(places).toEqual(expect.arrayContaining(['status', 'commissions', '--json']));
  });

  test('errors names every error of the catalogue and no other', () => {
    const codes = readTable(CONFIGURATION, 'Errors', ['code', 'meaning']).map(([cell]) => cell);
    expect(codes.toSorted()).toEqual(readErrorCodes().map(code).toSorted());
  });

  test("concerns is the program's", () => {
    const header = ['code', 'what it means', 'if it stays'];
    const rows = readTable('docs/operations.md', 'When something is wrong', header);
    expect(rows.map(([cell]) => cell)).toEqual(CONCERN_CODES.map(code));
    const said = rows.map(([, , cell = '']) =>
      cell.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', ''),
    );
    expect(said).toEqual(Object.values(IF_IT_STAYS));
  });

  test('promises has a test for each', () => {
    const header = ['what happens', 'what is promised'];
    const rows = readTable('docs/operations.md', 'What is promised when things break', header);
    expect(withoutTest(rows, PROMISES)).toEqual([]);
  });

  test("states of a request is the writer's", () => {
    const rows = readTable(FINANCE, 'How a request is carried out', ['state', 'meaning', 'what to do']);
    expect(rows.map(([state]) => state)).toEqual(['pending', ...END_STATES].map(code));
  });

  test("findings is the reconciliation's", () => {
    const rows = readTable(FINANCE, 'Comparing your books', ['finding', 'meaning']);
    expect(rows.map(([finding]) => finding)).toEqual(Object.keys(FINDINGS).map(code));
  });

  test('columns of a payout file names those that are read', () => {
    const rows = readTable(FINANCE, 'A payout file', ['column', 'meaning']);
    expect(rows.flatMap(([cell]) => codesIn(cell)).toSorted()).toEqual([...BATCH_COLUMNS].toSorted());
  });
});

test('every case of a deployment has a test', () => {
  const { text } = PAGES.find(({ path }) => path === DEPLOYMENT) ?? { text: '' };
  const header = ['Case', 'What happens'];
  const headings = [...text.matchAll(/^#+ (.+)\n(?:(?!^#).*\n)*?\| Case \| What happens \|$/gm)];
  expect(headings.length).toBe(text.split(`| ${header.join(' | ')} |`).length - 1);
  const rows = headings.flatMap(([, heading = '']) => readTable(DEPLOYMENT, heading, header));
  expect(withoutTest(rows, DEPLOYMENT_CASES)).toEqual([]);
});

test('what a delta does not see is listed as the program says it', () => {
  const page = PAGES.find(({ path }) => path === 'docs/data-engineer.md')?.text.replaceAll("'", '’');
  for (const spot of DELTA_BLIND_SPOTS) expect(page).toContain(`- ${spot}`);
});

test.each(['docs/data-engineer.md', 'docs/operations.md'])(
  '%s says when a worker syncs, and in which zone',
  (path) => {
    const { text } = PAGES.find((page) => page.path === path) ?? { text: '' };
    for (const name of ['SYNC_FULL_CRON', 'SYNC_DELTA_CRON', 'SYNC_TIMEZONE', 'doctor']) {
      expect(text).toContain(code(name));
    }
  },
);

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

test('every function that a page names is in its file', () => {
  const named = PAGES.flatMap(({ text }) => [...text.matchAll(FUNCTION)]);
  const missing = named.filter(([, name = '', file = '']) => {
    const path = join(ROOT, file);
    return !existsSync(path) || !new RegExp(`function\\*? ${name}\\b`).test(readFileSync(path, 'utf8'));
  });
  expect(missing.map(([whole]) => whole)).toEqual([]);
});

test.each(["A page's way", "A payment's way"])('%s names a function on each line', (heading) => {
  const { text } = PAGES.find(({ path }) => path === 'docs/design.md') ?? { text: '' };
  const [, steps = ''] = text.split(`## ${heading}\n`)[1]?.split(/\n(?=1\. )|\n\n(?=#)/) ?? [];
  const lines = steps.split('\n');
  expect(lines.length).toBeGreaterThan(10);
  expect(
    lines.filter((line, index) => !line.startsWith(`${index + 1}. \``) || !line.match(FUNCTION)),
  ).toEqual([]);
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

test('every word of the glossary is one that the code uses', () => {
  const files = globSync(['src/**/*.ts', 'migrations/**/*.sql'], { cwd: ROOT });
  const code = files
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('\n')
    .toLowerCase();
  const words = readTable('docs/glossary.md', 'Glossary', ['word', 'meaning', 'not']).flatMap(([cell = '']) =>
    cell.toLowerCase().replace('then ', '').split(', '),
  );
  expect(words.filter((word) => !new RegExp(`\\b${word}`).test(code))).toEqual([]);
});

test('no code, message or comment of the program uses an odd word where a usual one will do', () => {
  const pattern = new RegExp(`\\b(?:${ODD_WORDS.join('|')})s?\\b`, 'gi');
  const files = globSync(['src/**/*.ts', 'migrations/**/*.sql'], { cwd: ROOT });
  const found = files.flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(pattern)].map(([word]) => `${path}: ${word}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

test('every block is in a language that a test runs or reads, and every line of a shell is run', () => {
  const languages = ['sh', 'sql', 'python', 'js', 'ts', 'csv', 'yaml', 'mermaid', ''];
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
  expect(statSync(join(ROOT, 'docs/images/demo.svg')).size).toBeLessThan(100_000);
  const stills = globSync('docs/images/terminal/*.svg', { cwd: ROOT });
  expect(stills.length).toBeGreaterThan(0);
  expect(stills.filter((path) => !page.includes(`](${path.replace('docs/', '')})`))).toEqual([]);
  for (const path of stills) expect(statSync(join(ROOT, path)).size, path).toBeLessThan(50_000);
});

// A field that means nothing to the program but itself.
const FIELD = 'max_commission_period_months';

test('the places that a new field touches are those that the page lists', () => {
  const files = globSync([CONTRACT, 'src/**/*.ts', 'test/**/*.ts', 'migrations/**/*.sql'], { cwd: ROOT });
  const naming = files.filter(
    (path) => !path.endsWith('.test.ts') && readFileSync(join(ROOT, path), 'utf8').includes(FIELD),
  );
  const rows = readTable(CONTRIBUTING, 'The places of a field', ['place', 'what it says']);
  const listed = rows.map(([cell]) => codesIn(cell)[0]);
  expect(listed.toSorted()).toEqual(naming.toSorted());
  expect(PAGES.find(({ path }) => path === CONTRIBUTING)?.text).toContain(`named in ${naming.length} places`);
});

// A figure that `status` and the status page show: its function, its view, and its name in the document.
const FIGURE = /\breadDrift\b|^\| `contract_drift` \||"\.contract_drift\b|\{ schema_drift\b/m;

test('the places that a new figure touches are those that the page lists', () => {
  expect(placesOf(' figure').map(({ place }) => place)).toEqual(filesWith(FIGURE));
});

// They are names of metrics, columns or words as well.
const OTHER_NAMES = [
  ...['secret_refused', 'payments_failed', 'payments_neglected', 'deletions_held_back'],
  ...['stale', 'throttled'],
];

test('the places that a new alert touches are those that the page lists', () => {
  const codes = CONCERN_CODES.filter((code) => !OTHER_NAMES.includes(code));
  const naming = codes.map((code) =>
    filesWith(new RegExp(`(?<!\`)\\b${code}\\b(?!\`)|^\\| \`${code}\` \\|`, 'm')),
  );
  const places = placesOf('n alert');
  expect(places.map(({ place }) => place)).toEqual([...new Set(naming.flat())].toSorted());
  const usual = places.filter(({ isUsual }) => isUsual).map(({ place }) => place);
  for (const files of naming) expect(files).toEqual(expect.arrayContaining(usual));
});

test('the places that a command of a group touches are those that the page lists', async () => {
  const files = globSync('src/cli/commands/commissions-*.ts', { cwd: ROOT });
  const naming = await Promise.all(
    files.map(async (own) => {
      const { command }: { command: CommandFile } = await import(join(ROOT, own));
      const group = new Command();
      command.register(group, {} as Cli);
      const names = group.commands.map((one) => one.name());
      const named = new RegExp(`affiliate-mirror commissions (?:${names.join('|')})\\b|${basename(own)}`);
      const places = [own, ...filesWith(named)].map((path) =>
        path === own ? OWN_FILE : path.replace(/^docs\/[\w-]+\.md$/, 'docs/….md'),
      );
      return new Set(places);
    }),
  );
  const ofAll = naming.reduce((common, places) => common.intersection(places));
  expect(placesOf(' command of a group').map(({ place }) => place)).toEqual([...ofAll].toSorted());
});

const OWN_FILE = 'src/cli/commands/commissions-….ts';

/** Returns the places of the table, by name; `isUsual` is false for one that is a place in some cases only. */
function placesOf(what: string): { place: string; isUsual: boolean }[] {
  const rows = readTable(CONTRIBUTING, `The places of a${what}`, ['place', 'what it says']);
  return rows
    .map(([place, says = '']) => ({ place: codesIn(place)[0] ?? '', isUsual: !says.startsWith('if ') }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1));
}

/** Returns the written files with a match, but for tests, by name. */
function filesWith(pattern: RegExp): string[] {
  return globSync(['src/**/*.ts', 'migrations/**/*.sql', 'docs/*.md', 'docs/deploy/**/*.yml'], { cwd: ROOT })
    .filter((path) => !path.endsWith('.test.yml') && pattern.test(readFileSync(join(ROOT, path), 'utf8')))
    .toSorted();
}

/** Returns the rows without an entry, the entries without a row, and the tests that are not there. */
function withoutTest(
  rows: readonly string[][],
  shownBy: Readonly<Record<string, readonly string[]>>,
): string[] {
  const cells = rows.map(([cell = '']) => cell.replaceAll('`', ''));
  const entries = Object.entries(shownBy);
  const isOf = (cell: string, start: string) =>
    cell.startsWith(start) && /^(?:$|,|:| \()/.test(cell.slice(start.length));
  const unnamed = cells.filter((cell) => !entries.some(([start]) => isOf(cell, start)));
  const unused = entries.filter(([start]) => !cells.some((cell) => isOf(cell, start)));
  const missing = entries
    .flatMap(([, tests]) => tests)
    .filter((named) => {
      const [file = '', title = ''] = named.split(/: (.*)/s);
      const path = join(ROOT, 'test', `${file}.test.ts`);
      return title === '' || !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
    });
  return [...unnamed, ...unused.map(([start]) => start), ...missing];
}

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
  const text = readFileSync(new URL('../src/base/errors.ts', import.meta.url), 'utf8');
  const codes = [...text.matchAll(/(?:errorOf\(|readonly code = )'([A-Z_]+)'/g)];
  return codes.map(([, code = '']) => code);
}
