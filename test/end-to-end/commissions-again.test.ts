// What a batch says about a row that was asked for before, and about one whose sale was refunded, at the command line.

import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBatchFile } from '../../src/commissions/files/batch-file.ts';
import { runSandbox, SECRET, type TestSandbox } from '../sandbox/running-sandbox.ts';
import { readDocument } from '../schemas/read-document.ts';
import { countWaiting } from '../support/count-waiting.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type CliRun, runCli, spawnCli } from '../support/run-cli.ts';

let database: TestDatabase;
let sandbox: TestSandbox;
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await runSandbox(database.pool, { referrals: 400 });
  directory = await mkdtemp(join(tmpdir(), 'affiliate-mirror-again-'));
  return () => sandbox.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const AT = '2026-10-01T12:00:00Z';

const environment = () => ({
  DATABASE_URL: database.url,
  AFFILIATE_API_URL: sandbox.url,
  AFFILIATE_API_SECRET: SECRET,
  API_RATE_LIMIT: 'none',
});

function commissions(...args: string[]): Promise<CliRun> {
  return runCli(['commissions', ...args], environment());
}

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

async function commissionWhere(condition: string): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from sandbox.commissions
     where paid_at is null and ${condition} and id not in (select commission_id from commission_updates)
     order by id limit 1`,
  );
  return rows[0]?.id ?? '';
}

async function unpaidCommissions(count: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from sandbox.commissions
     where paid_at is null and voided_at is null and id not in (select commission_id from commission_updates)
     order by id limit $1`,
    [count],
  );
  return rows.map(({ id }) => id);
}

async function requestsFor(id: string): Promise<number> {
  const { rows } = await database.pool.query<{ requests: number }>(
    'select count(*) as requests from commission_updates where commission_id = $1',
    [id],
  );
  return rows[0]?.requests ?? 0;
}

test('a key of the user’s own counts as such whatever it begins with: --again does not ask again under it', async () => {
  const id = await commissionWhere('voided_at is null');
  const header = 'commission_id,action,paid_at,idempotency_key';
  const path = await file('own-key.csv', header, `${id},pay,${AT},row:4711`);
  expect((await commissions('apply', path, '--wait')).code).toBe(0);
  const again = await commissions('apply', path, '--wait', '--again');
  expect(again.stderr).toContain('1 of 1 was asked for before: not queued again');
  expect(await requestsFor(id)).toBe(1);
  const preview = await commissions('apply', path, '--again', '--dry-run', '--json');
  expect(readDocument('commissions-dry-run', preview.stdout).rows).toMatchObject([
    { would: 'asked_before', outcome: expect.stringContaining('another idempotency_key asks anew') },
  ]);

  const generated = await file('no-key.csv', 'commission_id,action,paid_at', `${id},pay,${AT}`);
  expect((await commissions('apply', generated, '--wait')).code).toBe(0);
  expect((await commissions('apply', generated, '--wait', '--again')).code).toBe(0);
  expect(await requestsFor(id)).toBe(3);
});

test('a key that names another request is a problem of its line, in the dry run and before anything is queued', async () => {
  const [first = '', second = '', third = '', fourth = ''] = await unpaidCommissions(4);
  const header = 'commission_id,action,paid_at,idempotency_key';
  const one = await file('key-one.csv', header, `${first},pay,${AT},OKT-1`);
  expect((await commissions('apply', one)).code).toBe(0);
  const { rows } = await database.pool.query('select id from commission_updates where idempotency_key = $1', [
    'OKT-1',
  ]);
  const other = await file(
    'key-other.csv',
    header,
    `${fourth},pay,never,`,
    `${second},pay,${AT},OKT-1`,
    `${third},pay,${AT},OKT-2`,
  );
  const problem = `line 3: the idempotency_key "OKT-1" is that of request ${rows[0].id} already (pay of commission ${first}): give this row a key of its own, or none`;
  for (const flag of ['--dry-run', '--json']) {
    const refused = await commissions('apply', other, flag);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('line 2: paid_at "never" is not a timestamp');
    expect(refused.stderr).toContain(problem);
  }
  expect(await requestsFor(third)).toBe(0);

  const result = join(directory, 'key-result.csv');
  const skipped = await commissions('apply', other, '--skip-invalid', '--result', result);
  expect(skipped.code).toBe(3);
  expect(skipped.stderr).toContain(problem);
  expect(skipped.stderr).toContain('2 of 3 rows left out');
  expect([await requestsFor(second), await requestsFor(third)]).toEqual([0, 1]);
  expect(await readFile(result, 'utf8')).toMatch(/,OKT-1,left_out,"the idempotency_key ""OKT-1"" is that of/);

  // The same request under its key is none, whatever its spelling and its reason.
  const same = await file(
    'key-same.csv',
    `${header},reason`,
    `${first.toUpperCase()},Pay,2026-10-01T14:00:00+02:00,OKT-1,once more`,
  );
  const again = await commissions('apply', same, '--dry-run');
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('asked_before')]);
});

test('a row that was taken back, or dropped for one that was, is named with --again, and the exit code is 3', async () => {
  const [id = '', other = ''] = await unpaidCommissions(2);
  const path = await file(
    'cancelled.csv',
    'commission_id,action,paid_at',
    `${id},pay,${AT}`,
    `${other},pay,${AT}`,
  );
  expect((await commissions('apply', path)).code).toBe(0);
  expect((await commissions('pay', other, '--supersede')).code).toBe(0);
  for (const one of [id, other]) expect((await commissions('cancel', one)).code).toBe(0);
  for (const flag of ['--wait', '--json']) {
    const again = await commissions('apply', path, flag);
    expect(again.code).toBe(3);
    expect(again.stderr).toMatch(
      /^line 2: request \d+ asked for this and ended as cancelled \(cancelled .*\): --again asks anew$/m,
    );
    expect(again.stderr).toMatch(
      /^line 3: request \d+ asked for this and ended as superseded \(superseded .*\): --again asks anew$/m,
    );
  }
  const dry = await commissions('apply', path, '--dry-run', '--json');
  expect(dry.code).toBe(3);
  expect(dry.stderr).toMatch(/^line 2: request \d+ asked for this and ended as cancelled /m);
  expect(readDocument('commissions-dry-run', dry.stdout).rows).toMatchObject(
    ['cancelled', 'superseded'].map((state) => ({
      would: 'asked_before',
      outcome: expect.stringMatching(
        `^request \\d+ asked for this and ended as ${state} \\(.*\\): --again asks`,
      ),
    })),
  );
  expect((await commissions('apply', path, '--wait', '--again')).code).toBe(0);
  expect((await sandbox.commission(id)).paid_at).toBe('2026-10-01T12:00:00.000Z');
});

test('a dry run ends with the exit code of applying, where the only trouble is rows that were asked for before', async () => {
  const [conflict = '', overtaken = '', good = ''] = await unpaidCommissions(3);
  const header = 'commission_id,action,paid_at,expected_amount';
  const bad = await file('ended-badly.csv', header, `${conflict},pay,${AT},1`);
  expect((await commissions('apply', bad, '--wait')).code).toBe(3);
  const fine = await file('ended-well.csv', header, `${good},pay,${AT},`);
  expect((await commissions('apply', fine, '--wait')).code).toBe(0);
  const late = await file('overtaken.csv', header, `${overtaken},pay,${AT},`);
  expect((await commissions('apply', late)).code).toBe(0);
  expect((await commissions('unpay', overtaken)).code).toBe(0);

  for (const [path, code, words] of [
    [bad, 3, /^line 2: request \d+ asked for this and ended as conflict \(.*\): --again asks anew$/m],
    [
      late,
      3,
      /^line 2: request \d+ asked for this and still waits, but request \d+ came later: --again asks anew$/m,
    ],
    [fine, 0, /^1 of 1 was asked for before: not queued again$/m],
  ] as const) {
    for (const flags of [['--dry-run'], []]) {
      const again = await commissions('apply', path, ...flags);
      expect([path, flags, again.code]).toEqual([path, flags, code]);
      expect(again.stderr).toMatch(words);
    }
  }
});

test('a refunded sale ends a row as conflict, unless the row or the command says otherwise', async () => {
  const id = await commissionWhere('voided_at is not null');
  const paidAt = async () => (await sandbox.commission(id)).paid_at;
  const path = await file('refunded.csv', 'commission_id,action,paid_at', `${id},pay,${AT}`);
  const preview = await commissions('apply', path, '--dry-run');
  expect(preview.code).toBe(3);
  expect(preview.stdout + preview.stderr).toMatch(
    /conflict +│ its sale is fully refunded .*--even-if-refunded/,
  );
  expect((await commissions('apply', path, '--wait')).code).toBe(3);
  expect((await commissions('pay', id, '--at', AT, '--wait')).code).toBe(3);
  expect(await paidAt()).toBeNull();

  // Another request than the one that was held back, so it is asked for without --again.
  const forced = await commissions('apply', path, '--even-if-refunded', '--wait');
  expect(forced.code).toBe(0);
  expect(await paidAt()).toBe('2026-10-01T12:00:00.000Z');
  expect((await commissions('unpay', id, '--wait')).code).toBe(0);

  const ofRow = await file(
    'refunded-row.csv',
    'commission_id,action,paid_at,even_if_refunded',
    `${id},pay,2026-10-02T12:00:00Z,TRUE`,
  );
  expect((await commissions('apply', ofRow, '--wait')).code).toBe(0);
  expect(await paidAt()).toBe('2026-10-02T12:00:00.000Z');
  expect((await commissions('unpay', id, '--wait')).code).toBe(0);
  expect((await commissions('pay', id, '--at', AT, '--even-if-refunded', '--wait')).code).toBe(0);
  expect(await paidAt()).toBe('2026-10-01T12:00:00.000Z');
});

test('--even-if-refunded asks anew only for what the refund held back, and what it paid is not asked for again', async () => {
  const refunded = await commissionWhere('voided_at is not null');
  const one = await commissionWhere('voided_at is null');
  const two = await commissionWhere(`voided_at is null and id <> '${one}'`);
  const rows = [refunded, one, two].map((id) => `${id},pay,${AT},unpaid`);
  const path = await file('rf.csv', 'commission_id,action,paid_at,expected_paid_at', ...rows);
  // Queued and not applied yet: the flag makes no second request of what waits.
  const before = [await commissions('apply', path), await commissions('apply', path, '--even-if-refunded')];
  expect(before.map(({ code }) => code)).toEqual([0, 0]);
  expect(await requestsFor(refunded)).toBe(1);
  expect((await commissions('apply', path, '--wait')).stderr).toContain('2 applied, 1 conflict');

  const preview = await commissions('apply', path, '--even-if-refunded', '--dry-run', '--json');
  expect(preview.code, preview.stderr).toBe(0);
  const would = ['change', 'asked_before', 'asked_before'].map((word) => ({ would: word }));
  expect(readDocument('commissions-dry-run', preview.stdout).rows).toMatchObject(would);
  const forced = await commissions('apply', path, '--even-if-refunded', '--wait');
  expect(forced.code, forced.stdout).toBe(0);
  expect(forced.stderr).toContain('2 of 3 were asked for before');
  expect((await sandbox.commission(refunded)).paid_at).toBe('2026-10-01T12:00:00.000Z');

  // With the flag or without, it is the same payment from now on.
  for (const flags of [['--even-if-refunded'], []]) {
    const again = await commissions('apply', path, '--wait', ...flags);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('3 of 3 were asked for before');
  }
  expect(await Promise.all([refunded, one, two].map(requestsFor))).toEqual([2, 1, 1]);
});

test('even_if_refunded is read in every spelling of yes and no, and refused elsewhere', async () => {
  const ids = [1, 2, 3, 4, 5, 6].map((digit) => `0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c1${digit}`);
  const read = (...lines: string[]) => readBatchFile(new TextEncoder().encode(lines.join('\n')));
  const csv = await read(
    'commission_id,action,paid_at,even_if_refunded',
    `${ids[0]},pay,${AT},Yes`,
    `${ids[1]},pay,${AT},no`,
    `${ids[2]},pay,${AT},`,
    `${ids[3]},pay,${AT},perhaps`,
    `${ids[4]},unpay,,true`,
    `${ids[5]},unpay,,false`,
  );
  expect(csv.rows.map(({ request }) => request.even_if_refunded)).toEqual([true, false, false, false]);
  expect(csv.problems.map(({ line, problem }) => `${line}: ${problem}`)).toEqual([
    expect.stringMatching(/^5: even_if_refunded "perhaps" is neither true nor false/),
    expect.stringMatching(/^6: even_if_refunded is true with unpay/),
  ]);
  const json = await read(
    JSON.stringify({ commission_id: ids[0], action: 'pay', paid_at: AT, even_if_refunded: true }),
    JSON.stringify({ commission_id: ids[1], action: 'pay', paid_at: AT, even_if_refunded: false }),
  );
  expect(json.rows.map(({ request }) => request.even_if_refunded)).toEqual([true, false]);
  // Whoever asks to pay it all the same asks for something else.
  expect(json.rows[0]?.request.idempotency_key).toBe(csv.rows[0]?.request.idempotency_key);
  const plain = await read('commission_id,action,paid_at', `${ids[0]},pay,${AT}`);
  expect(plain.rows[0]?.request.idempotency_key).not.toBe(csv.rows[0]?.request.idempotency_key);
});

test('--again run once more takes what waits since the first time, unless a later request undoes it', async () => {
  const [first = '', second = ''] = await unpaidCommissions(2);
  const header = 'commission_id,action,paid_at,expected_paid_at';
  const path = await file('twice.csv', header, `${first},pay,${AT},unpaid`, `${second},pay,${AT},unpaid`);
  const ask = async () => (await commissions('apply', path, '--again')).stderr;
  expect(await ask()).toContain('a running worker applies them');
  expect(await ask()).toContain('2 of 2 were asked for before: not queued again');
  expect([await requestsFor(first), await requestsFor(second)]).toEqual([1, 1]);

  await commissions('unpay', second);
  expect(await ask()).toContain('1 of 2 was asked for before: not queued again');
  expect([await requestsFor(first), await requestsFor(second)]).toEqual([1, 3]);
  const { code, stdout } = await commissions('apply', path, '--again', '--wait', '--json');
  expect(readDocument('commissions-requests', stdout)['counts']).toEqual({ applied: 2 });
  expect(code).toBe(0);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
] as const)(
  '%s while others have the turn ends the command before anything is queued',
  async (signal, exit) => {
    const [id = ''] = await unpaidCommissions(1);
    const path = await file(`${signal}.csv`, 'commission_id,action,paid_at', `${id},pay,${AT}`);
    const other = await database.pool.connect();
    try {
      await other.query('begin');
      // However long the command takes to start.
      await other.query('set local idle_in_transaction_session_timeout = 0');
      await other.query(
        `insert into commission_updates (commission_id, action) select id, 'unpay' from sandbox.commissions limit 1`,
      );
      const child = spawnCli(['commissions', 'apply', path], environment());
      const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
      await expect.poll(() => countWaiting(database.pool)).toBe(1);
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([exit, null]);
      expect(await stderr).toMatch(/^affiliate-mirror: stopped .*: nothing was queued$/m);
      expect(await stdout).toBe('');
    } finally {
      await other.query('rollback');
      other.release();
    }
    expect(await requestsFor(id)).toBe(0);
  },
);
