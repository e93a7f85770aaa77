// What the mirror holds of people in the modes hash and omit: nothing that the program sent, on whichever way it came.

import { beforeAll, describe, expect, test } from 'vitest';
import { adoptMode } from '../../src/personal-data/adopt-mode.ts';
import { readState } from '../../src/personal-data/stored-state.ts';
import { findText, HASH, MARK, OMIT, PLAIN, useMarkedProgram } from './marked-program.ts';

describe.each([HASH, OMIT])('in mode $mode', (settings) => {
  const program = useMarkedProgram();

  beforeAll(async () => {
    const { db, syncAll, pay, change } = program();
    await adoptMode(db, settings);
    expect(await syncAll(settings)).toHaveLength(4);
    await pay(settings);
    await change();
    await syncAll(settings, 'delta');
    await syncAll(settings);
    await program().database.pool.query('analyze');
  });

  test('no column of any table holds anything of a person', async () => {
    const { database } = program();
    const { rows } = await database.pool.query(
      `select (select count(*) from affiliates) > 10 as affiliates, (select count(*) from referrals) > 140 as referrals,
         (select count(*) from commissions) > 10 as commissions, (select count(*) from record_history) > 0 as history,
         (select count(*) from rejected_records) > 1 as rejected,
         (select count(*) from commission_update_attempts where error is not null) as refused,
         (select count(*) from referrals where coupon is not null) > 0 as coupons`,
    );
    expect(rows).toEqual([
      {
        affiliates: true,
        referrals: true,
        commissions: true,
        history: true,
        rejected: true,
        refused: 1,
        coupons: true,
      },
    ]);
    expect(await findText(database, MARK)).toEqual([]);
  });

  test('a run that reads the same again changes nothing', async () => {
    const { database, syncAll } = program();
    const count = async () =>
      (await database.pool.query('select count(*) as changes from record_history')).rows[0].changes;
    const before = await count();
    await syncAll(settings);
    expect(await count()).toBe(before);
  });

  test('a process that is set to keep everything writes nothing, and is told what to do', async () => {
    const { syncAll, db } = program();
    expect(await readState(db)).toMatchObject({ mode: settings.mode });
    await expect(syncAll(PLAIN)).rejects.toThrow(
      `this mirror keeps personal data as ${settings.mode}, and PII is plain here: set PII=${settings.mode}, or run affiliate-mirror personal-data switch`,
    );
  });
});

describe('in mode plain', () => {
  const program = useMarkedProgram();

  test('everything is kept as it came', async () => {
    const { database, syncAll, pay } = program();
    await syncAll(PLAIN);
    await pay(PLAIN);
    expect(await findText(database, MARK)).toEqual(
      expect.arrayContaining(['affiliates', 'links', 'referrals', 'rejected_records']),
    );
  });
});
