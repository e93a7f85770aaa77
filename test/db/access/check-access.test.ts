// What a worker's role is told that it lacks.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { makeLogger } from '../../../src/base/log.ts';
import { checkWorkerAccess } from '../../../src/db/access/check-access.ts';
import { describeGrants } from '../../../src/db/access/grants.ts';
import { makePool } from '../../../src/db/connect/pool.ts';
import { createTestDatabase } from '../../support/database.ts';

const database = await createTestDatabase();
const mark = randomBytes(4).toString('hex');
const WORKER = `o'brien ${mark}`;
const SCHEMAS = { schema: 'mirror', queueSchema: null };
await database.pool.query(`create role ${pg.escapeIdentifier(WORKER)} login password 'p'`);

afterAll(async () => {
  const role = pg.escapeIdentifier(WORKER);
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});

function openAsWorker() {
  const url = new URL(database.url);
  url.username = encodeURIComponent(WORKER);
  url.password = 'p';
  const pool = makePool(
    { log: makeLogger('silent') },
    { url: url.href, schema: 'mirror', max: 1, applicationName: 'check-access-test' },
  );
  onTestFinished(() => pool.end());
  return pool;
}

test('the command that it is told of names the role so that a shell takes it', async () => {
  const message = await checkWorkerAccess(openAsWorker(), SCHEMAS).then(String, String);
  const [, role = ''] = /--role (.*)" prints/.exec(message) ?? [];
  expect(execFileSync('sh', ['-c', `printf %s ${role}`], { encoding: 'utf8' })).toBe(WORKER);
});

test('a table of another owner in the schema is nothing that it lacks', async () => {
  await database.pool.query(describeGrants('worker', { ...SCHEMAS, role: WORKER }));
  await database.pool.query(`
    create table mirror.lacked (a int);
    revoke all on mirror.lacked from ${pg.escapeIdentifier(WORKER)}`);
  await expect(checkWorkerAccess(openAsWorker(), SCHEMAS)).rejects.toThrow('mirror.lacked');
  await database.pool.query(`create role other_${mark}; alter table mirror.lacked owner to other_${mark}`);
  onTestFinished(async () => {
    await database.pool.query(`drop table mirror.lacked; drop role other_${mark}`);
  });
  await expect(checkWorkerAccess(openAsWorker(), SCHEMAS)).resolves.toBe(undefined);
});
