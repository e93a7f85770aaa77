// `npm run gallery`: writes the answers of docs/analysts.md anew, from a demo that is run for it.

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makePool } from '../../src/db/pool.ts';
import { openEmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.ts';
import { makeLogger } from '../../src/log.ts';
import { makeDataDir, removeDataDir } from '../support/embedded-directories.ts';
import { ROOT } from '../support/read-docs.ts';
import { answer, GALLERY_PAGE, readGallery, seedProgramOfPage, withAnswers } from './gallery.ts';

const log = makeLogger('warn');
const dataDir = await makeDataDir();
try {
  const server = await openEmbeddedPostgres({ log }, { dataDir });
  const pool = makePool({ log }, { url: server.url, schema: 'mirror', max: 1, applicationName: 'gallery' });
  await seedProgramOfPage(pool);
  await promisify(execFile)(process.execPath, [join(ROOT, 'src/main.ts'), 'demo', '--once'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: server.url },
  });
  const page = readFileSync(GALLERY_PAGE, 'utf8');
  const answers: string[] = [];
  for (const question of readGallery(page)) answers.push(await answer(pool, question));
  await pool.end();
  await server.stop();
  writeFileSync(GALLERY_PAGE, withAnswers(page, answers));
} finally {
  await removeDataDir(dataDir);
}
