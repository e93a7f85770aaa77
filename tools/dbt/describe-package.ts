// What is in docs/dbt: the files that are made from the catalogue, as they should be.

import { stringify } from 'yaml';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { COLUMN_TYPES } from '../../src/decode/mirrored-tables.ts';
import { type CatalogueColumn, type CatalogueRelation, readCatalogue } from './read-catalogue.ts';

const HEAD = 'npm run docs';

/** The resource whose runs read a table. Commissions are left out: not every program lists them. */
const READ_BY: Readonly<Record<string, string>> = {
  affiliates: 'affiliates',
  campaigns: 'affiliates',
  links: 'affiliates',
  referrals: 'referrals',
};

/** Returns the text of each generated file, by its path below docs/dbt. */
export async function describePackage(pool: Pool): Promise<ReadonlyMap<string, string>> {
  const tables = await readCatalogue(pool, 'mirror');
  const views = await readCatalogue(pool, 'mirror_reports');
  const files = new Map([['models/sources.yml', describeSources(tables, views)]]);
  const models: object[] = [];
  for (const table of tables.filter(({ name }) => name in COLUMN_TYPES)) {
    const columns = table.columns.filter(({ name }) => !name.startsWith('_') || name === '_changed_at');
    const name = `stg_${table.name}`;
    files.set(
      `models/staging/${name}.sql`,
      `${select('mirror', table.name, columns)}where _deleted_at is null\n`,
    );
    models.push(describeRelation({ name, comment: `${table.comment} Living rows only.`, columns }));
  }
  for (const view of views) {
    files.set(`models/reports/${view.name}.sql`, select('mirror_reports', view.name, view.columns));
    models.push(describeRelation(view));
  }
  const loaded = tables.find(({ name }) => name === 'referrals');
  if (loaded !== undefined) models.push(describeRelation({ ...loaded, name: 'referrals_loaded' }));
  files.set('models/models.yml', document({ version: 2, models }));
  return files;
}

function describeSources(tables: readonly CatalogueRelation[], views: readonly CatalogueRelation[]): string {
  return document({
    version: 2,
    sources: [
      {
        name: 'mirror',
        schema: "{{ var('mirror_schema') }}",
        description:
          'The mirrored tables of the affiliate program, deleted rows included, and their bookkeeping.',
        tables: tables.map((table) => describeRelation(table, freshnessOf(table.name))),
      },
      {
        name: 'mirror_reports',
        schema: "{{ var('reports_schema') }}",
        description:
          'The views for analysts, or the exports of them where they were loaded into a warehouse.',
        tables: views.map((view) => describeRelation(view)),
      },
    ],
  });
}

/** Fresh as of the start of the last verified run: all that it read is at least as young. */
function freshnessOf(table: string): object {
  const resource = READ_BY[table];
  if (resource === undefined) return {};
  return {
    config: {
      loaded_at_query: `select max(started_at) from {{ var('mirror_schema') }}.sync_runs where resource = '${resource}' and verified`,
      freshness: { warn_after: { count: 2, period: 'hour' }, error_after: { count: 26, period: 'hour' } },
    },
  };
}

function describeRelation({ name, comment, columns }: CatalogueRelation, more: object = {}): object {
  return { name, description: comment, ...more, columns: columns.map(describeColumn) };
}

function describeColumn({ name, type, comment, isNotNull, isKey, values }: CatalogueColumn): object {
  const tests = [
    ...(isKey ? ['unique'] : []),
    ...(isKey || isNotNull ? ['not_null'] : []),
    ...(values === null ? [] : [{ accepted_values: { arguments: { values } } }]),
  ];
  return {
    name,
    description: comment,
    data_type: type,
    ...(tests.length === 0 ? {} : { data_tests: tests }),
  };
}

function select(source: string, relation: string, columns: readonly CatalogueColumn[]): string {
  const list = columns.map(({ name }) => `  ${name}`).join(',\n');
  return `-- Made by ${HEAD}.\nselect\n${list}\nfrom {{ source('${source}', '${relation}') }}\n`;
}

// dbt reads YAML 1.1, where on and off without quotes are booleans.
function document(content: object): string {
  return `# Made by ${HEAD} from the comments of the database.\n${stringify(content, { lineWidth: 0, version: '1.1' })}`;
}
