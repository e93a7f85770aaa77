// `npm run diagram`: writes the entity diagram of docs/analysts.md anew, from a mirror that is made for it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMigrations } from '../../src/db/migrate.ts';
import { makePool } from '../../src/db/pool.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeLogger } from '../../src/log.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { ROOT } from '../support/read-docs.ts';
import { drawEntities } from './draw-entities.ts';

const PAGE = join(ROOT, 'docs/analysts.md');
const BLOCK = /^```mermaid\nerDiagram\n[^`]*^```$/m;

const log = makeLogger('warn');
const dataDir = await makeDataDir();
try {
  const server = await openEmbeddedPostgres({ log }, { dataDir });
  const pool = makePool({ log }, { url: server.url, schema: 'mirror', max: 1, applicationName: 'diagram' });
  await runMigrations(pool, { schema: 'mirror' });
  const diagram = await drawEntities(pool, 'mirror_reports');
  await pool.end();
  await server.stop();
  const page = readFileSync(PAGE, 'utf8');
  if (!BLOCK.test(page))
    throw new Error(`${PAGE} has no block for the diagram: \`\`\`mermaid, erDiagram, \`\`\``);
  writeFileSync(
    PAGE,
    page.replace(BLOCK, () => `\`\`\`mermaid\n${diagram}\`\`\``),
  );
} finally {
  await removeDataDir(dataDir);
}
