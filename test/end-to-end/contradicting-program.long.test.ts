// Programs whose answers contradict themselves or what the mirror knows, as whoever runs `sync` meets them: it ends,
// says why, exits 3, and no row is marked deleted.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { startAlteringProxy } from '../support/altering-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runCli } from '../support/run-cli.ts';

const REFERRALS = 2000;
/** Of a list that does not change: its pages and the head. */
const STILL_REQUESTS = REFERRALS / 100 + 1;

let sandbox: TestSandbox;
let mirror: TestDatabase;

beforeAll(async () => {
  const program = await createTestDatabase();
  sandbox = await runSandbox(program.pool, { affiliates: 30, referrals: REFERRALS });
  mirror = await createTestDatabase();
  expect(await sync(sandbox.url)).toMatchObject({ code: 0 });
});

afterAll(() => sandbox.close());

async function sync(url: string, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
  return runCli(['sync', '--json', ...args], {
    ...more,
    AFFILIATE_API_URL: url,
    AFFILIATE_API_SECRET: SECRET,
    DATABASE_URL: mirror.url,
    API_RATE_LIMIT: 'none',
  });
}

interface Answer {
  readonly pagination: Record<string, number | null>;
  readonly data: unknown[];
}

/** Runs `sync` against the program as it is altered. */
async function syncAltered(
  alter: (answer: Answer) => Answer,
  args: readonly string[],
  more?: Readonly<Record<string, string>>,
) {
  let answered = 0;
  const proxy = await startAlteringProxy(sandbox.url, (body) => {
    answered += 1;
    return JSON.stringify(alter(JSON.parse(body)));
  });
  try {
    const { code, stdout, stderr } = await sync(proxy.url, args, more);
    return { code, runs: JSON.parse(stdout).runs, stderr, requests: answered };
  } finally {
    await proxy.close();
  }
}

async function countDeleted(): Promise<number> {
  const { rows } = await mirror.pool.query(
    `select (select count(*) from referrals where _deleted_at is not null)
          + (select count(*) from affiliates where _deleted_at is not null) as count`,
  );
  return rows[0].count;
}

async function lastError(): Promise<string> {
  const { rows } = await mirror.pool.query('select error from sync_runs order by id desc limit 1');
  return rows[0].error;
}

describe('a program whose answers contradict themselves', () => {
  test('a total that swings: all is read, and the run ends partial', async () => {
    const [gone] = (await sandbox.allReferrals()).slice(700);
    await sandbox.program.deleteReferral(gone?.id ?? '');
    await sandbox.program.insertReferral();
    const swing = ({ pagination, data }: Answer): Answer => {
      const { current_page: page, total_count: total } = pagination;
      const less = (page ?? 1) % 2 === 0 ? 100 : 0;
      return { pagination: { ...pagination, total_count: (total ?? 0) - less }, data };
    };
    const swinging = await syncAltered(swing, ['referrals']);
    expect(swinging).toMatchObject({
      code: 3,
      runs: [
        {
          state: 'partial',
          verified: false,
          rows_deleted: 0,
          rows_inserted: 1,
          reason: expect.stringMatching(/^unverified because the program contradicts itself: .*total fell/),
        },
      ],
    });
    expect(swinging.requests).toBeLessThanOrEqual(10 * STILL_REQUESTS);
    const { reason } = swinging.runs[0];
    expect(await lastError()).toBe(reason);
    expect(swinging.stderr).toContain(`affiliate-mirror: referrals: ${reason}`);
    expect(swinging.stderr).toContain('sync.unverified');
    expect(await countDeleted()).toBe(0);
    expect(await sync(sandbox.url, ['referrals'])).toMatchObject({ code: 0 });
    expect(await countDeleted()).toBe(1);
    await mirror.pool.query('delete from referrals where _deleted_at is not null');
  });

  test('a current_page that is always 1: the run ends at once, partial', async () => {
    const stuck = await syncAltered(
      ({ pagination, data }) => ({ pagination: { ...pagination, current_page: 1 }, data }),
      ['referrals'],
    );
    expect(stuck).toMatchObject({
      code: 3,
      runs: [
        {
          state: 'partial',
          reason: expect.stringMatching(
            /^unverified because .*asked for page 2 of 100, it answered page 1 of/,
          ),
        },
      ],
    });
    expect(stuck.requests).toBeLessThan(10);
    expect(await countDeleted()).toBe(0);
  });
});
