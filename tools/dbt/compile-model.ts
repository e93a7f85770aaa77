// Does with a model what dbt would: replaces what is between braces, and runs the SQL on Postgres.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { ROOT } from '../../test/support/read-docs.ts';

/** The schema that models are built in. */
export const TARGET = 'dbt';
const SCHEMAS: Readonly<Record<string, string>> = {
  mirror_schema: 'mirror',
  reports_schema: 'mirror_reports',
};

export interface Model {
  readonly name: string;
  readonly text: string;
}

/** Returns a model of docs/dbt/models; `path` is below that. */
export function readModel(path: string): Model {
  const text = readFileSync(join(ROOT, 'docs/dbt/models', path), 'utf8');
  return { name: path.replace(/^.*\//, '').replace(/\.sql$/, ''), text };
}

/**
 * Returns the SQL of the model.
 *
 * Throws: Error where it holds anything that is not known here.
 */
function compileModel({ name, text }: Model, { isIncremental = false } = {}): string {
  const sql = resolveVariables(text)
    .replace(/\{\{ config\(.*?\) \}\}/g, '')
    .replace(/\{% if is_incremental\(\) %\}(.*?)\{% endif %\}/gs, (_, part) => (isIncremental ? part : ''))
    .replace(/\{\{ source\('(\w+)', '(\w+)'\) \}\}/g, '$1.$2')
    .replace(/\{\{ ref\('(\w+)'\) \}\}/g, `${TARGET}.$1`)
    .replace(/\{\{ this \}\}/g, `${TARGET}.${name}`);
  if (/\{[{%]/.test(sql)) throw new Error(`${name}: not all of it is known to this test:\n${sql}`);
  return sql;
}

/** Returns the text with the variables of dbt_project.yml in it. */
export function resolveVariables(text: string): string {
  return text.replace(/\{\{ var\('(\w+)'\) \}\}/g, (_, variable: string) => SCHEMAS[variable] ?? '?');
}

/** Builds a model whole, as its first run does. */
export async function buildModel(pool: Pool, model: Model): Promise<void> {
  await pool.query(`create schema if not exists ${TARGET}`);
  await pool.query(`create table ${TARGET}.${model.name} as ${compileModel(model)}`);
}

/** Runs an incremental model once more, by dbt's own strategy for Postgres (delete+insert), in one transaction. */
export async function runIncrement(pool: Pool, model: Model): Promise<void> {
  const target = `${TARGET}.${model.name}`;
  await pool.query(`
    begin;
    create temporary table increment on commit drop as ${compileModel(model, { isIncremental: true })};
    delete from ${target} where id in (select id from increment);
    insert into ${target} select * from increment;
    commit`);
}
