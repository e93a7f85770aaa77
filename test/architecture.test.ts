// The rooms of src/ and what each may import: the architecture, held to. A new room or a new arrow is a line here.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Import, readImports, readsEnvironment } from './support/read-imports.ts';

interface Room {
  /** Rooms, or single files of them of which only types may be imported. */
  readonly rooms: readonly string[];
  /** Third-party packages; Node's own modules are open to all. */
  readonly packages: readonly string[];
}

/** What every room but base may import besides its own files; config stands on contract. */
const SHARED = ['base', 'config'];

/** The rooms, from the bottom to the top: a room imports what its line names, all of it in layers below its own. */
const LAYERS: readonly Readonly<Record<string, Room>>[] = [
  // Its span.ts reports steps to a tracer that observe/ sets, where the standard variables ask for traces.
  { base: { rooms: [], packages: ['pino', 'pino-pretty'] } },
  { contract: { rooms: [], packages: ['zod'] } },
  { config: { rooms: ['contract'], packages: ['zod', 'cron-parser', 'yaml'] } },
  {
    api: { rooms: ['contract'], packages: ['undici', 'p-retry', 'zod'] },
    crawl: { rooms: [], packages: [] },
    db: { rooms: ['contract'], packages: ['pg', 'kysely'] },
    decode: { rooms: ['contract'], packages: ['zod'] },
    'embedded-postgres': { rooms: [], packages: ['pg'] },
    sandbox: { rooms: ['contract'], packages: ['fastify', 'p-map', 'pg', '@faker-js/faker'] },
  },
  {
    budget: { rooms: ['api', 'db', 'contract'], packages: ['kysely'] },
    client: { rooms: ['crawl', 'decode', 'api', 'contract'], packages: ['zod'] },
    // pg quotes names; hucre, hyparquet-writer and s3mini write what their formats and services ask for.
    exports: {
      rooms: ['db', 'contract'],
      packages: ['hucre', 'hyparquet-writer', 'kysely', 'p-retry', 'pg', 's3mini', 'zod'],
    },
    mirror: { rooms: ['decode', 'api/client.ts', 'db', 'contract'], packages: ['kysely', 'pg', 'zod'] },
    reports: { rooms: ['decode', 'db', 'contract'], packages: ['kysely', 'zod'] },
  },
  {
    observe: {
      rooms: ['reports', 'api', 'budget', 'db', 'contract'],
      packages: [
        '@opentelemetry/api',
        '@opentelemetry/core',
        '@opentelemetry/otlp-transformer',
        '@opentelemetry/resources',
        '@opentelemetry/sdk-trace',
        'kysely',
        'nodemailer',
        'p-retry',
        'prom-client',
        'undici',
      ],
    },
    payments: {
      rooms: ['mirror', 'decode', 'reports', 'api', 'db', 'contract'],
      packages: ['kysely', 'csv-parse', 'hucre', 'p-map'],
    },
    sync: { rooms: ['crawl', 'mirror', 'decode', 'api', 'db', 'contract'], packages: [] },
  },
  {
    worker: {
      rooms: ['sync', 'payments', 'exports', 'mirror', 'decode/treatment.ts', 'api', 'db', 'contract'],
      packages: ['bullmq', 'cron-parser', 'ioredis', 'kysely', 'pg'],
    },
  },
  {
    web: {
      rooms: ['worker', 'reports', 'db', 'contract'],
      packages: [
        'fastify',
        '@fastify/helmet',
        '@bull-board/api',
        '@bull-board/fastify',
        'd3-scale',
        'd3-shape',
      ],
    },
  },
  {
    cli: {
      rooms: [
        'web',
        'worker',
        'sync',
        'payments',
        'observe',
        'reports',
        'mirror',
        'exports',
        'budget',
        'sandbox',
        'embedded-postgres',
        'decode/treatment.ts',
        'db',
        'api',
        'contract',
      ],
      packages: ['commander', 'cli-table3', 'csv-stringify', 'hucre', 'p-map', 'pg', 'zod'],
    },
  },
];
const ROOMS: Readonly<Record<string, Room>> = Object.assign({}, ...LAYERS);

const ROOT_FILES: Readonly<Record<string, Room>> = { 'main.ts': { rooms: ['cli'], packages: [] } };

/** What builds a dependency. Everybody else is handed what the command line, or the library's client, built. */
const BUILDERS = [
  'readConfig',
  'readPrograms',
  'makeLogger',
  'openEmbeddedPostgres',
  'makePool',
  'makeDatabase',
  'makeApiClient',
  'makeTakePermit',
  'startSandbox',
];

/** The library has no command line: it makes the client from what its caller passes. */
const COMPOSERS = ['cli', 'client'];

/** Who names a table in SQL. The reports read any, and everybody else what is theirs. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  affiliates: ['mirror'],
  campaigns: ['mirror'],
  links: ['mirror'],
  referrals: ['mirror'],
  sales: ['mirror'],
  // Payments mirror what they read and change, one by one.
  commissions: ['mirror', 'payments'],
  record_history: ['mirror'],
  rejected_records: ['mirror', 'payments'],
  schema_drift: ['mirror'],
  held_back_deletions: ['mirror'],
  optional_lists: ['mirror'],
  sync_runs: ['mirror'],
  covered_counters: ['mirror'],
  seen_rows: ['mirror'],
  commission_updates: ['payments'],
  commission_update_attempts: ['payments'],
  tracked_commissions: ['payments'],
  request_budget: ['budget'],
  request_permits: ['budget'],
  worker_state: ['worker'],
  personal_data: ['mirror'],
  forgotten_people: ['mirror'],
  forgotten_records: ['mirror'],
  forgotten_addresses: ['mirror'],
  exports: ['exports'],
  pruned_tables: ['mirror'],
  alerts: ['observe'],
  alert_notices: ['observe'],
  alert_watch: ['observe'],
  books_comparisons: ['payments'],
  books_differences: ['payments'],
};
/** Reads them all, and writes none. */
const READER_OF_TABLES = 'reports';
/** Rewrites what any of them holds of people, and nothing else. */
const REWRITER_OF_TABLES = 'mirror/people/';
/** Deletes what is over age of some of them, and nothing else. */
const PRUNER_OF_TABLES = 'mirror/retention/';

/** Who may touch the environment besides config.ts, and for what. */
const ENVIRONMENT_READERS: Readonly<Record<string, string>> = {
  'main.ts': 'hands it over whole',
  'embedded-postgres/executables.ts': "passes the system's own variables to Postgres' executables",
};

const SRC = fileURLToPath(new URL('../src', import.meta.url));

interface SourceFile {
  /** Below src/, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
  readonly readsEnvironment: boolean;
}

const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readSource(path.split(sep).join('/')))
  .toSorted((a, b) => a.path.localeCompare(b.path));

describe('the rooms of src/', () => {
  test('every directory is a room, and every file of the root is known', () => {
    const known = new Set([...Object.keys(ROOMS), ...Object.keys(ROOT_FILES)]);
    const unknown = new Set(FILES.map(({ path }) => topOf(path)).filter((top) => !known.has(top)));
    expect([...unknown], 'give it a line in ROOMS or ROOT_FILES').toEqual([]);
  });

  test('a room imports only the rooms below it', () => {
    expect(violations(({ path, imports }) => imports.flatMap((one) => checkRoom(path, one)))).toEqual([]);
  });

  test('the arrows between rooms point down', () => {
    const upward = LAYERS.flatMap((layer, height) => {
      const below = new Set(LAYERS.slice(0, height).flatMap((lower) => Object.keys(lower)));
      return Object.entries(layer).flatMap(([room, { rooms }]) =>
        rooms.filter((name) => !below.has(topOf(name))).map((name) => `${room} → ${name}`),
      );
    });
    expect(upward).toEqual([]);
  });

  test('a third-party package is imported only where it belongs', () => {
    expect(violations(({ path, imports }) => imports.flatMap((found) => checkPackage(path, found)))).toEqual(
      [],
    );
  });

  test('what a room may import, one of its files does import', () => {
    const imported = new Set(
      FILES.flatMap(({ path, imports }) => imports.flatMap((found) => edges(path, found))),
    );
    const unused = Object.entries({ ...ROOMS, ...ROOT_FILES }).flatMap(([top, { rooms, packages }]) =>
      [...rooms, ...packages].map((name) => `${top} ${name}`).filter((edge) => !imported.has(edge)),
    );
    expect(unused).toEqual([]);
  });

  test('only the command line and the library build dependencies', () => {
    expect(violations(({ path, imports }) => imports.flatMap((found) => checkBuilder(path, found)))).toEqual(
      [],
    );
  });

  test('only config.ts reads the environment', () => {
    expect(
      violations(({ path, readsEnvironment }) =>
        readsEnvironment && path !== 'config/config.ts' && ENVIRONMENT_READERS[path] === undefined
          ? [`src/${path} reads process.env: only config.ts may`]
          : [],
      ),
    ).toEqual([]);
  });

  test('a table is named in SQL by the room that owns it', () => {
    expect(
      violations(({ path, text }) => {
        const room = topOf(path);
        if (isReader(path)) return [];
        if ([REWRITER_OF_TABLES, PRUNER_OF_TABLES].some((folder) => path.startsWith(folder))) return [];
        return tablesNamedIn(text)
          .filter((table) => !TABLES[table]?.includes(room))
          .map(
            (table) => `src/${path} names the table ${table}, which belongs to ${TABLES[table]?.join(', ')}`,
          );
      }),
    ).toEqual([]);
    expect(tablesNamedIn("select 1 from links; db.selectFrom('sales as s')").toSorted()).toEqual([
      'links',
      'sales',
    ]);
  });

  test('the run log is touched in one place', () => {
    const places = FILES.filter(
      ({ path, text }) => !isReader(path) && tablesNamedIn(text).includes('sync_runs'),
    );
    const elsewhere = places.map(({ path }) => path).filter((path) => !path.startsWith('mirror/runs/'));
    // When a run began says which rows are older than it; a run that nothing depends on is pruned in the end.
    expect(elsewhere).toEqual([
      'mirror/find-missing.ts',
      'mirror/retention/prune-batch.ts',
      'mirror/retention/pruned-tables.ts',
    ]);
  });

  test('a transaction is begun in one place, which does it again where it was lost', () => {
    const places = FILES.filter(
      ({ path, text }) => topOf(path) !== 'sandbox' && text.includes('.transaction()'),
    );
    expect(places.map(({ path }) => path)).toEqual(['db/transact.ts']);
  });

  test('no file imports itself through others', () => {
    expect(findCycles(graphOf((path) => path))).toEqual([]);
  });

  test('a file of the program is one idea: at most 250 lines', () => {
    expect(violations(({ path, text }) => (text.split('\n').length > 251 ? [`src/${path}`] : []))).toEqual(
      [],
    );
  });

  test('a line of a comment is at most 120 columns long', () => {
    const longLines = ({ path, text }: SourceFile) =>
      text
        .split('\n')
        .filter((line) => line.length > 120 && /^\s*(?:\/\/(?! biome-ignore)|\*|\/\*)/.test(line))
        .map((line) => `src/${path}: ${line.trim()}`);
    expect(violations(longLines)).toEqual([]);
  });

  test('every file opens with what it knows', () => {
    expect(
      violations(({ path, text }) =>
        /^(#!.*\n)?\/\/ \S/.test(text)
          ? []
          : [`src/${path} does not open with a comment that says what it knows`],
      ),
    ).toEqual([]);
  });
});

describe('the rules', () => {
  test.each([
    ['crawl/page.ts', "import { x } from '../mirror/load.ts'", 'crawl may import no other room'],
    ['api/client.ts', "export * from '../db/pool.ts'", 'api may import only contract'],
    ['db/pool.ts', "import x from '../../test/x.ts'", 'src/ imports nothing outside itself'],
    ['mirror/load.ts', "import { request } from 'undici'", 'mirror may import only kysely, pg'],
    [
      'sync/run.ts',
      "import { makeApiClient } from '../api/client.ts'",
      'only cli and client build dependencies',
    ],
  ])('src/%s with "%s" is refused: %s', (path, text, rule) => {
    const found = readImports(text, path).flatMap((one) => check(path, one));
    expect(found).toEqual([expect.stringContaining(rule)]);
    expect(found[0]).toContain(`src/${path} imports`);
  });
});

describe('the reader of imports', () => {
  test('sees every way to import, and nothing in comments and strings', () => {
    const text = `
      import value, { other } from './a.ts';
      import type { T } from './b.ts';
      import { type U } from './c.ts';
      export { x } from './d.ts';
      export type { Y } from './e.ts';
      export * from './f.ts';
      import './g.ts';
      type V = import('./h.ts').V;
      const i = await import('./i.ts');
      const j = require('./j.ts');
      // import './comment.ts'
      const text = "import './string.ts'";
    `;
    expect(readImports(text, 'example.ts').map(({ target, isType }) => [target, isType])).toEqual([
      ['./a.ts', false],
      ['./b.ts', true],
      ['./c.ts', true],
      ['./d.ts', false],
      ['./e.ts', true],
      ['./f.ts', false],
      ['./g.ts', false],
      ['./h.ts', true],
      ['./i.ts', false],
      ['./j.ts', false],
    ]);
  });

  test('refuses an import whose target is computed', () => {
    expect(() => readImports('await import(name)', 'example.ts')).toThrow('example.ts');
  });
});

function violations(check: (file: SourceFile) => string[]): string[] {
  return FILES.flatMap(check);
}

function check(path: string, found: Import): string[] {
  return [...checkRoom(path, found), ...checkPackage(path, found), ...checkBuilder(path, found)];
}

function checkRoom(path: string, { target, isType }: Import): string[] {
  if (!target.startsWith('.')) return [];
  const from = topOf(path);
  const imported = resolveImport(path, target);
  const to = topOf(imported);
  if (imported.startsWith('../'))
    return [`src/${path} imports ${target}: src/ imports nothing outside itself`];
  const isShared =
    SHARED.includes(to) && !(to === 'config' && ['base', 'contract'].includes(from)) && from !== 'base';
  if (to === from || isShared) return [];
  const { rooms } = ruleOf(from);
  if (rooms.includes(to) || (isType && rooms.includes(imported))) return [];
  const rule = rooms.length === 0 ? 'no other room' : `only ${rooms.join(', ')}`;
  return [`src/${path} imports ${target}: ${from} may import ${rule}`];
}

/** Returns what the import uses of its room's line in the table, as "room name". */
function edges(path: string, { target }: Import): string[] {
  const imported = target.startsWith('.') ? resolveImport(path, target) : packageOf(target);
  return [topOf(imported), imported].map((name) => `${topOf(path)} ${name}`);
}

function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function checkPackage(path: string, { target }: Import): string[] {
  if (target.startsWith('.') || target.startsWith('node:')) return [];
  const name = packageOf(target);
  const { packages } = ruleOf(topOf(path));
  if (packages.includes(name)) return [];
  const rule = packages.length === 0 ? 'no package' : `only ${packages.join(', ')}`;
  return [`src/${path} imports ${target}: ${topOf(path)} may import ${rule}`];
}

function checkBuilder(path: string, { target, names, isType }: Import): string[] {
  if (isType || !target.startsWith('.')) return [];
  const from = topOf(path);
  if (COMPOSERS.includes(from) || from === topOf(resolveImport(path, target))) return [];
  return names
    .filter((name) => BUILDERS.includes(name))
    .map((name) => `src/${path} imports ${name} from ${target}: only cli and client build dependencies`);
}

function ruleOf(top: string): Room {
  return ROOMS[top] ?? ROOT_FILES[top] ?? { rooms: [], packages: [] };
}

function topOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function resolveImport(path: string, target: string): string {
  return relative(SRC, join(SRC, dirname(path), target))
    .split(sep)
    .join('/');
}

/** What imports what, by the name that `nameOf` has for a file. */
function graphOf(nameOf: (path: string) => string): ReadonlyMap<string, ReadonlySet<string>> {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of FILES) {
    const name = nameOf(path);
    const targets = graph.get(name) ?? new Set();
    graph.set(name, targets);
    for (const { target } of imports) {
      if (target.startsWith('.')) targets.add(nameOf(resolveImport(path, target)));
    }
  }
  return graph;
}

function findCycles(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (name: string, trail: readonly string[]): void => {
    if (trail.includes(name)) cycles.push([...trail.slice(trail.indexOf(name)), name].join(' → '));
    if (done.has(name) || trail.includes(name)) return;
    for (const target of graph.get(name) ?? []) visit(target, [...trail, name]);
    done.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return cycles;
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(SRC, path), 'utf8');
  const imports = readImports(text, `src/${path}`);
  const importsProcess = imports.some(({ target }) => target === 'node:process' || target === 'process');
  return { path, text, imports, readsEnvironment: importsProcess || readsEnvironment(text) };
}

function tablesNamedIn(text: string): string[] {
  const names = Object.keys(TABLES).join('|');
  const inSql = new RegExp(`\\b(?:from|join|into|update|truncate)\\s+(?:only\\s+)?(${names})\\b`, 'g');
  const inKysely = new RegExp(`(?:selectFrom|insertInto|updateTable|deleteFrom)\\('(${names})\\b`, 'g');
  return [...text.matchAll(inSql), ...text.matchAll(inKysely)].flatMap(([, table]) => table ?? []);
}

function isReader(path: string): boolean {
  return [READER_OF_TABLES, 'sandbox'].includes(topOf(path));
}
