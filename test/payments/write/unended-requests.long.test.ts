// A transaction that asks for an update and does not end: those who ask after it wait for as long as it may be alive.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { requestUpdates } from '../../../src/payments/ask/request-updates.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';
import { createTestDatabase } from '../../support/database.ts';

const database = await createTestDatabase();
const { db } = database;

const ask = () =>
  requestUpdates({ db }, [plainRequest({ commission_id: randomUUID(), action: 'unpay' })], {
    batchId: 'b',
    requestedBy: null,
  });

describe('a transaction that asks and does not end', () => {
  const insertion = `insert into commission_updates (commission_id, action) values ($1, 'unpay')`;

  test('keeps its turn where a person has it open', async () => {
    const person = new pg.Client({ connectionString: database.url, options: '-c search_path=mirror' });
    await person.connect();
    await person.query('begin');
    await person.query(insertion, [randomUUID()]);
    const asked = ask();
    await sleep(1000);
    await person.query('commit');
    await person.end();
    expect(await asked).toMatchObject([{ isNew: true }]);
  });

  test('ends the wait of others, of whom none is queued', async () => {
    const person = new pg.Client({ connectionString: database.url, options: '-c search_path=mirror' });
    await person.connect();
    await person.query('begin');
    await person.query(insertion, [randomUUID()]);
    await expect(ask()).rejects.toMatchObject({
      code: 'BUSY',
      message: expect.stringMatching(/^nothing was queued: another transaction has asked/),
    });
    await person.end();
    expect(await ask()).toMatchObject([{ isNew: true }]);
  });
});
