// Payments at the calendar's edge: refused where they are asked for, by the database's own check.

import { expect, test } from 'vitest';
import { FIRST_TIMESTAMP, LAST_TIMESTAMP } from '../../../src/contract/timestamp.ts';
import { useWriter } from './start-writer.ts';

const given = useWriter({ affiliates: 5, referrals: 200 });

test('a payment at either end of the calendar is applied, and none beyond it is asked for', async () => {
  const { freshMany, ask, drain, row } = given();
  const ids = (await freshMany(4)).map(({ id }) => id);
  const pay = (index: number, paid_at: string) =>
    ask({ commission_id: ids[index] ?? '', action: 'pay', paid_at });
  const beyond = 'beyond the years 1 to 9999';
  await expect(pay(2, '0001-12-31T23:59:59.999999Z BC')).rejects.toThrow(beyond);
  await expect(pay(3, '10000-01-01T00:00:00Z')).rejects.toThrow(beyond);
  await pay(3, LAST_TIMESTAMP);
  const asked = [await pay(0, FIRST_TIMESTAMP), await pay(1, '9999-12-31T23:59:59Z')].flat();
  await drain();
  for (const { id } of asked) expect(await row(id)).toMatchObject({ state: 'applied' });
});
