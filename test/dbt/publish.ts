// Writes docs/dbt anew from the catalogue of a migrated database: `npm run dbt`.

import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startBenchPostgres } from '../bench/bench-database.ts';
import { ROOT } from '../support/read-docs.ts';
import { describePackage } from './describe-package.ts';

const DIRECTORY = join(ROOT, 'docs/dbt');

await using cleanup = new AsyncDisposableStack();
const postgres = await startBenchPostgres(cleanup);
const { pool, drop } = await postgres.createDatabase();
const files = await describePackage(pool);
await drop();
for (const old of globSync('models/{staging,reports}/*.sql', { cwd: DIRECTORY }))
  rmSync(join(DIRECTORY, old));
for (const [path, text] of files) {
  mkdirSync(dirname(join(DIRECTORY, path)), { recursive: true });
  writeFileSync(join(DIRECTORY, path), text);
}
