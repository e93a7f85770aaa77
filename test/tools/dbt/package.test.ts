// The dbt package in docs/dbt. There is no dbt here: its files are read as dbt would read them, every table and column
// in them exists, and their models and tests are run as SQL on a mirror.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  buildModel,
  readModel,
  resolveVariables,
  runIncrement,
  TARGET,
} from '../../../tools/dbt/compile-model.ts';
import { describePackage } from '../../../tools/dbt/describe-package.ts';
import { ROOT } from '../../support/read-docs.ts';
import { useSyncing } from '../../sync/syncing.ts';

const DIRECTORY = join(ROOT, 'docs/dbt');
const read = (path: string) => readFileSync(join(DIRECTORY, path), 'utf8');
/** As dbt reads it: on and off without quotes are booleans. */
const parseYaml = (text: string): unknown => parse(text, { version: '1.1' });

const dataTest = z.union([
  z.enum(['unique', 'not_null']),
  z.strictObject({
    accepted_values: z.strictObject({ arguments: z.strictObject({ values: z.array(z.string()).min(2) }) }),
  }),
]);
// dbt reads templates in descriptions, too.
const description = z.string().regex(/^(?!.*\{[{%#]).+$/s);
const relation = {
  name: z.string(),
  description,
  columns: z.array(
    z.strictObject({
      name: z.string(),
      description,
      data_type: z.string(),
      data_tests: z.array(dataTest).optional(),
    }),
  ),
};
const span = z.strictObject({ count: z.int(), period: z.enum(['minute', 'hour', 'day']) });
const config = z.strictObject({
  loaded_at_query: z.string(),
  freshness: z.strictObject({ warn_after: span, error_after: span }),
});
const sourcesFile = z.strictObject({
  version: z.literal(2),
  sources: z.array(
    z.strictObject({
      name: z.string(),
      schema: z.string(),
      description: z.string(),
      tables: z.array(z.strictObject({ ...relation, config: config.optional() })),
    }),
  ),
});
const modelsFile = z.strictObject({ version: z.literal(2), models: z.array(z.strictObject(relation)) });
type Relation = z.infer<typeof modelsFile>['models'][number];

const { sources } = sourcesFile.parse(parseYaml(read('models/sources.yml')));
const { models } = modelsFile.parse(parseYaml(read('models/models.yml')));
const MODELS = globSync('**/*.sql', { cwd: join(DIRECTORY, 'models') })
  .toSorted()
  .map(readModel);

const given = useSyncing({ affiliates: 10, referrals: 120, optionalLists: ['commissions'] });

beforeAll(async () => {
  const { database, syncAll, sandbox } = given();
  await syncAll();
  const { data } = await sandbox.referrals('?limit=2');
  for (const { id } of data) await sandbox.program.deleteReferral(id);
  await syncAll();
  for (const model of MODELS) await buildModel(database.pool, model);
});

async function columnsOf(schema: string, name: string): Promise<readonly string[]> {
  const { rows } = await given().database.pool.query<{ column: string }>(
    `select attname as column from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [`${schema}.${name}`],
  );
  return rows.map(({ column }) => column);
}

/** Returns the tests of a relation that do not hold. */
async function findFailures(schema: string, { name, columns }: Relation): Promise<string[]> {
  const failures: string[] = [];
  for (const { name: column, data_tests = [] } of columns) {
    for (const one of data_tests) {
      const table = `${schema}.${name}`;
      const sql =
        one === 'unique'
          ? `select ${column} from ${table} where ${column} is not null group by ${column} having count(*) > 1`
          : one === 'not_null'
            ? `select 1 from ${table} where ${column} is null`
            : `select 1 from ${table} where ${column} <> all($1)`;
      const values = typeof one === 'string' ? [] : [one.accepted_values.arguments.values];
      const { rowCount } = await given().database.pool.query(sql, values);
      if (rowCount !== 0) failures.push(`${table}.${column}: ${JSON.stringify(one)}`);
    }
  }
  return failures;
}

test('what is made from the catalogue is current (else: npm run docs)', async () => {
  const expected = await describePackage(given().database.pool);
  for (const [path, text] of expected) expect(read(path), path).toBe(text);
  const made = globSync(['models/{staging,reports}/*', 'models/*.yml'], { cwd: DIRECTORY });
  expect(made.toSorted()).toEqual([...expected.keys()].toSorted());
});

test('the project names the schemas that the sources are in, and every directory of models', () => {
  const project = parse(read('dbt_project.yml'));
  expect(Object.keys(project.vars.affiliate_mirror)).toEqual(['mirror_schema', 'reports_schema']);
  expect(sources.map(({ schema }) => resolveVariables(schema))).toEqual(
    Object.values(project.vars.affiliate_mirror),
  );
  const directories = globSync('models/*/', { cwd: DIRECTORY }).map((path) => path.split('/')[1]);
  expect(Object.keys(project.models.affiliate_mirror).toSorted()).toEqual(directories.toSorted());
});

describe('every source', () => {
  const tables = sources.flatMap(({ schema, tables }) =>
    tables.map((table) => ({ schema: resolveVariables(schema), ...table })),
  );

  test('has the columns of its table, and its tests hold', async () => {
    expect(tables.length).toBeGreaterThan(20);
    for (const table of tables) {
      expect(table.columns.map(({ name }) => name)).toEqual(await columnsOf(table.schema, table.name));
      expect(await findFailures(table.schema, table)).toEqual([]);
    }
  });
});

describe('every model', () => {
  test('is described with the columns that it has, and its tests hold', async () => {
    expect(models.map(({ name }) => name).toSorted()).toEqual(MODELS.map(({ name }) => name).toSorted());
    for (const model of models) {
      expect(model.columns.map(({ name }) => name)).toEqual(await columnsOf(TARGET, model.name));
      expect(await findFailures(TARGET, model)).toEqual([]);
    }
  });
});

test('the incremental model reads only what changed, and ends as the table', async () => {
  const { database, sandbox, syncBoth } = given();
  const { pool } = database;
  const versions = async () =>
    new Set(
      (
        await pool.query<{ row: string }>(`select ctid::text as row from ${TARGET}.referrals_loaded`)
      ).rows.map(({ row }) => row),
    );
  const before = await versions();
  await sandbox.program.insertReferral();
  const { data } = await sandbox.referrals('?limit=1&page=3');
  await sandbox.program.updateReferral(data[0]?.id ?? '', { visits: 4711 });
  await syncBoth();
  const { rows: changed } = await pool.query(
    `select id from mirror.referrals where _changed_at > (select max(_changed_at) from ${TARGET}.referrals_loaded)`,
  );
  await runIncrement(pool, readModel('incremental/referrals_loaded.sql'));
  const rows = async (table: string) => (await pool.query(`select * from ${table} order by id`)).rows;
  expect(await rows(`${TARGET}.referrals_loaded`)).toEqual(await rows('mirror.referrals'));
  const written = [...(await versions())].filter((row) => !before.has(row));
  expect(written.length).toBe(changed.length);
  expect(changed.length).toBe(2);
});
