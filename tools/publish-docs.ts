// `npm run docs`: writes anew all that is made from the program itself: the schemas of the JSON documents, the dashboard
// for Grafana, the dbt package, the entity diagram and the answers of the gallery. Tests say which of them are not
// current.

import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Pool } from '../src/db/connect/shared-pool.ts';
import { ROOT } from '../test/support/read-docs.ts';
import { startBenchPostgres } from './bench/bench-database.ts';
import { DASHBOARD_FILE, describeDashboard } from './dashboard/dashboard.ts';
import { describePackage } from './dbt/describe-package.ts';
import { answer, GALLERY_PAGE, readGallery, seedProgramOfPage, withAnswers } from './gallery/gallery.ts';
import { drawEntities } from './picture/draw-entities.ts';
import { DOCUMENTS, describeDocument } from './schemas/documents.ts';

writeSchemas(join(ROOT, 'docs/schemas'));
writeFileSync(DASHBOARD_FILE, describeDashboard());
await using cleanup = new AsyncDisposableStack();
const postgres = await startBenchPostgres(cleanup);
const { pool, url, drop } = await postgres.createDatabase();
await writeDbt(pool, join(ROOT, 'docs/dbt'));
await writeDiagram(pool, join(ROOT, 'docs/analysts.md'));
await writeGallery(pool, url);
await drop();

function writeSchemas(directory: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
  for (const [name, document] of Object.entries(DOCUMENTS)) {
    writeFileSync(join(directory, `${name}.json`), describeDocument(document));
  }
}

/** From the catalogue of a migrated database. */
async function writeDbt(mirror: Pool, directory: string): Promise<void> {
  const files = await describePackage(mirror);
  for (const old of globSync('models/{staging,reports}/*.sql', { cwd: directory })) {
    rmSync(join(directory, old));
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

async function writeDiagram(mirror: Pool, path: string): Promise<void> {
  const block = /^```mermaid\nerDiagram\n[^`]*^```$/m;
  const page = readFileSync(path, 'utf8');
  if (!block.test(page)) throw new Error(`${path} has no block of mermaid with an erDiagram`);
  const diagram = await drawEntities(mirror, 'mirror_reports');
  writeFileSync(
    path,
    page.replace(block, () => `\`\`\`mermaid\n${diagram}\`\`\``),
  );
}

/** From a demo that is run for it. */
async function writeGallery(mirror: Pool, databaseUrl: string): Promise<void> {
  await seedProgramOfPage(mirror);
  await promisify(execFile)(process.execPath, [join(ROOT, 'src/main.ts'), 'demo', '--once'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl },
  });
  const page = readFileSync(GALLERY_PAGE, 'utf8');
  const answers: string[] = [];
  for (const question of readGallery(page)) answers.push(await answer(mirror, question));
  writeFileSync(GALLERY_PAGE, withAnswers(page, answers));
}
