// What the moment means that a manifest names.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MONEY } from '../../src/contract/money.ts';
import { exportRelation } from '../../src/exports/export-relation.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeDirectory } from '../support/directory.ts';

/** Of one that is taken too late, more than half miss a row. */
const EXPORTS = 20;

test('what was committed by the moment of an export is in it', async () => {
  const { pool } = await createTestDatabase();
  const directory = await makeDirectory();
  const target = { kind: 'file', path: join(directory, 'tracked.csv') } as const;
  const committed: { readonly id: string; readonly by: string }[] = [];
  let isOver = false;
  const write = async () => {
    for (let id = 1; !isOver; id += 1) {
      await pool.query('insert into tracked_commissions (commission_id) values ($1)', [id]);
      const { rows } = await pool.query<{ by: string }>(
        `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as by`,
      );
      committed.push({ id: String(id), by: rows[0]?.by ?? '' });
    }
  };
  const writing = write();
  const missed: string[] = [];
  for (let count = 0; count < EXPORTS; count += 1) {
    const { manifest } = await exportRelation(pool, {
      mirrorSchema: 'mirror',
      name: 'mirror.tracked_commissions',
      format: 'csv',
      money: MONEY.minor,
      target,
      where: null,
      isByDay: false,
      since: null,
      isForChanges: false,
      isWrittenIfEmpty: true,
      signal: new AbortController().signal,
    });
    const [second = '', fraction = ''] = manifest.as_of.replace('Z', '').split('.');
    const asOf = `${second}.${fraction.padEnd(6, '0')}`;
    const lines = (await readFile(target.path, 'utf8')).split('\n');
    const exported = new Set(lines.map((line) => line.split(',')[0]));
    missed.push(...committed.flatMap(({ id, by }) => (by <= asOf && !exported.has(id) ? [id] : [])));
  }
  isOver = true;
  await writing;
  expect(missed).toEqual([]);
});
