// The sandbox that the client's tests run against: a small program in a database of the test file's own.

import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { NO_FAULTS } from '../../src/sandbox/fault-plan.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { SECRET } from './make-client.ts';

export interface TestSandbox {
  readonly sandbox: Sandbox;
  readonly commissionIds: readonly string[];
  /** How many requests came in since this test began. */
  readonly received: () => number;
}

/** Returns the file's sandbox, once it is started; every test finds it without faults. */
export function useSandbox(): () => TestSandbox {
  let started: { sandbox: Sandbox; commissionIds: readonly string[] } | undefined;
  let before = 0;
  const current = () => {
    if (started === undefined) throw new Error('the sandbox has not started');
    return started;
  };
  beforeAll(async () => {
    const { pool } = await createTestDatabase();
    const sandbox = await startSandbox(
      { pool, log: pino({ level: 'silent' }) },
      {
        schema: 'program',
        host: '127.0.0.1',
        port: 0,
        secret: SECRET,
        seed: 1,
        affiliates: 12,
        referrals: 130,
        rateLimit: null,
        faults: NO_FAULTS,
        live: null,
        reset: false,
      },
    );
    const { rows } = await pool.query<{ id: string }>('select id from program.commissions order by id');
    started = { sandbox, commissionIds: rows.map(({ id }) => id) };
  });
  beforeEach(() => {
    const { sandbox } = current();
    sandbox.setFaults(NO_FAULTS);
    sandbox.setRateLimit(null);
    before = sandbox.requests.length;
  });
  afterAll(async () => {
    await started?.sandbox.close();
  });
  return () => ({ ...current(), received: () => current().sandbox.requests.length - before });
}
