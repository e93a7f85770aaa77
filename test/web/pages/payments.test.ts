// The pages of the payment ledger, with requests in every state.

import { beforeAll, describe, expect, test } from 'vitest';
import { makeDatabase } from '../../../src/db/database.ts';
import { readLastBatches } from '../../../src/reports/read-batches.ts';
import { batchPage } from '../../../src/web/pages/batch.ts';
import { ledgerPage } from '../../../src/web/pages/ledger.ts';
import { paymentPage } from '../../../src/web/pages/payment.ts';
import { paymentsPage } from '../../../src/web/pages/payments.ts';
import { batchPath } from '../../../src/web/payment-words.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { AFFILIATE, COMMISSIONS, HOSTILE, storeFindings } from './store-findings.ts';
import { linksOf, readToEnd, sectionOf, visit } from './visit.ts';

let database: TestDatabase;
let empty: TestDatabase;
let many: TestDatabase;

/** Of these, every fourth is in no batch. */
const REQUESTS = 160;

beforeAll(async () => {
  database = await createTestDatabase();
  empty = await createTestDatabase();
  many = await createTestDatabase();
  await storeFindings(database.pool);
  await many.pool.query(`
    insert into commission_updates (commission_id, action, batch_id)
    select gen_random_uuid()::text, 'unpay', case when n % 4 > 0 then 'batch ' || n % 100 end
    from generate_series(1, ${REQUESTS}) n`);
});

const ALL = Array.from({ length: REQUESTS }, (_, place) => String(REQUESTS - place));
const BATCH = `secret/../batch?${HOSTILE}`;

describe('payments', () => {
  test('of a mirror without any say how to ask', async () => {
    const { text } = await visit(empty.pool, paymentsPage, { mayReadPeople: true });
    expect(text).toContain('Nothing was asked for yet.');
    expect(text).toContain('Nothing waits.');
    expect(text).toContain('Nothing was sent within a day.');
  });

  test('show every state with its requests, and what waits longest', async () => {
    const { html } = await visit(database.pool, paymentsPage);
    const { rows } = sectionOf(html, 'states');
    expect(rows).toHaveLength(9);
    expect(rows.find(([state]) => state === '✕ failed')?.[1]).toBe('1');
    expect(sectionOf(html, 'oldest').text).toContain('Request 1 for the commission');
    expect(linksOf(html)).toContain('/site/payments/ledger?state=not_found');
  });

  test.each([
    ["state = 'pending'", 'It was not tried yet.', '–'],
    ["last_error = 'no answer'", 'It was tried without success.', '–'],
    [
      "last_error = '503', attempts = 2, next_attempt_at = '2100-01-01Z'",
      'It was tried 2 times without success, and is not tried before 2100-01-01 00:00:00',
      '2100-01-01 00:00:00',
    ],
  ])(
    'say of what waits longest whether it was tried, and a time only that is to come: %s',
    async (change, says, next) => {
      const { pool } = await createTestDatabase();
      await pool.query(
        `insert into commission_updates (commission_id, action) values ('${COMMISSIONS[0]}', 'unpay')`,
      );
      await pool.query(`update commission_updates set ${change}`);
      expect(sectionOf((await visit(pool, paymentsPage)).html, 'oldest').text).toContain(says);
      const { text } = await visit(pool, paymentPage, { params: { id: '1' } });
      expect(text).toContain(`not tried before ${next}`);
    },
  );

  test('show sums by currency, in its digits', async () => {
    const { html } = await visit(database.pool, paymentsPage);
    expect(sectionOf(html, 'sums').rows).toEqual([
      ['EUR', '3', '37.02 EUR', '0.00 EUR', '12.34 EUR', '24.68 EUR', '0.00 EUR'],
      ['USD', '6', '74.04 USD', '24.68 USD', '0.00 USD', '24.68 USD', '24.68 USD'],
    ]);
  });

  test('say of a sum that no number can hold that it is too large', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query('update commissions set amount = 9007199254740991');
    const { html } = await visit(pool, paymentsPage);
    expect(sectionOf(html, 'sums').text).toContain('too large to add up');
  });

  test('show what was sent within a day by how it ended', async () => {
    const { html } = await visit(database.pool, paymentsPage);
    expect(sectionOf(html, 'attempts').rows.map((row) => row.slice(0, 4))).toEqual([
      ['reading (GET)', '200', '–', '1'],
      ['change (PUT)', '503', 'API_UNAVAILABLE', '1'],
      ['change (PUT)', 'none came', '–', '1'],
    ]);
  });

  test('list batches page by page, each once', async () => {
    const found = await readToEnd(many.pool, paymentsPage, { section: 'batches', mayReadPeople: true });
    expect(found).toHaveLength(76);
    expect(new Set(found).size).toBe(76);
  });

  test('name nobody alone as who asked where several people did', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(`
      insert into commission_updates (commission_id, action, batch_id, requested_by)
      values ('${COMMISSIONS[0]}', 'unpay', null, 'zoe'), ('${COMMISSIONS[1]}', 'unpay', null, 'adam'),
             ('${COMMISSIONS[2]}', 'unpay', 'march', 'zoe'), ('${COMMISSIONS[3]}', 'unpay', 'march', 'zoe')`);
    const { html } = await visit(pool, paymentsPage, { mayReadPeople: true });
    const asked = sectionOf(html, 'batches').rows.map((row) => row.at(-1));
    expect(asked).toEqual(['zoe', 'adam and others']);
    const batches = await readLastBatches({ db: makeDatabase(pool), mirrorSchema: 'mirror' }, 5);
    expect(batches.map(({ requested_by }) => requested_by)).toEqual(asked);
  });

  test('lead to each batch, with and without its name', async () => {
    for (const mayReadPeople of [true, false]) {
      const { html } = await visit(database.pool, paymentsPage, { mayReadPeople });
      const links = linksOf(sectionOf(html, 'batches').html);
      expect(links).toHaveLength(2);
      const counts = [];
      for (const link of links) {
        const { pathname, searchParams } = new URL(link, 'http://localhost');
        const id = decodeURIComponent(pathname.replace('/site/payments/batches/', ''));
        const query = Object.fromEntries(searchParams);
        const page = await visit(database.pool, batchPage, { params: { id }, query, mayReadPeople });
        counts.push(sectionOf(page.html, 'requests').rows.length);
      }
      expect(counts).toEqual([6, 3]);
    }
  });
});

describe('a batch', () => {
  test('is found by its name by whoever may read names, and by nobody else', async () => {
    const asked = { params: { id: BATCH } };
    const { text } = await visit(database.pool, batchPage, { ...asked, mayReadPeople: true });
    expect(text).toContain(`Batch ${BATCH}`);
    const masked = await visit(database.pool, batchPage, asked);
    expect(masked.content.status).toBe(404);
  });

  test.each([
    ['no batch', {}],
    ['of', {}],
    ['of', { request: '999' }],
    ['of', { request: 'x' }],
    ['', {}],
    ['\u0000', {}],
    ['\uD800', {}],
  ])('that is not there is not found: %j %j', async (id, query) => {
    for (const mayReadPeople of [true, false]) {
      const { content } = await visit(database.pool, batchPage, { params: { id }, query, mayReadPeople });
      expect(content.status).toBe(404);
    }
  });

  test('without a name is all requests that are in none, page by page', async () => {
    const found = await readToEnd(many.pool, batchPage, {
      section: 'requests',
      params: { id: 'of' },
      query: { request: '4' },
    });
    expect(found).toEqual(ALL.filter((id) => Number(id) % 4 === 0));
  });

  test.each([
    ['a/b', 'a%2Fb'],
    ['ü ?#&', '%C3%BC%20%3F%23%26'],
    ['..', null],
    ['.', null],
    ['x'.repeat(101), null],
    ['', null],
  ])('with the name %j is linked so that it is found', (batch, path) => {
    const expected = path === null ? '/payments/batches/of?request=3' : `/payments/batches/${path}`;
    expect(batchPath({ batch, newest_request: 3 })).toBe(expected);
  });
});

describe('the payment ledger', () => {
  const search = async (query: Record<string, string>, mayReadPeople = false) => {
    const { html, text } = await visit(database.pool, ledgerPage, { query, mayReadPeople });
    return { html, text, ids: sectionOf(html, 'requests').rows.map(([id]) => Number(id)) };
  };

  test.each([
    [{ commission: COMMISSIONS[3] ?? '' }, [4]],
    [{ commission: ` ${COMMISSIONS[3]?.toUpperCase()} ` }, [4]],
    [{ state: 'failed' }, [7]],
    [{ affiliate: AFFILIATE, state: 'pending' }, [1]],
    [{ affiliate: AFFILIATE.toUpperCase(), state: 'pending' }, [1]],
    [{ affiliate: 'nobody' }, []],
    [{ commission: "' or true --" }, []],
    [{ commission: '\u0000' }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
  ])('is searched by %j', async (query, ids) => {
    expect((await search(query)).ids).toEqual(ids);
  });

  test.each([
    [{ batch: BATCH }, [3, 2, 1]],
    [{ batch: 'secret' }, []],
    [{ requested_by: 'secret Margaret', state: 'failed' }, [7]],
    [{ requested_by: 'somebody' }, []],
    [{ person: 'SECRET@example' }, [9, 8, 7, 6, 5, 4, 3, 2, 1]],
    [{ person: '%' }, []],
    [{ person: "O'Neil" }, []],
  ])('is searched by %j where people may be seen, and only there', async (query, ids) => {
    expect((await search(query, true)).ids).toEqual(ids);
    const masked = await search(query);
    expect(masked.ids).toEqual('state' in query ? [7] : [9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(masked.text).toContain('A part of the search was left out.');
    const [asked = ''] = Object.values(query);
    expect(masked.html).not.toContain(`value="${asked}"`);
  });

  test.each(['Anna@MÜNCHEN.example', 'anna@xn--mnchen-3ya.example', 'münchen.example'])(
    'is searched by the address %s, however its domain is spelled',
    async (person) => {
      const { pool } = await createTestDatabase();
      await storeFindings(pool);
      for (const domain of ['münchen.example', 'xn--mnchen-3ya.example']) {
        await pool.query('update affiliates set email = $1', [`anna@${domain}`]);
        const { html } = await visit(pool, ledgerPage, { query: { person }, mayReadPeople: true });
        expect(sectionOf(html, 'requests').rows).not.toEqual([]);
      }
    },
  );

  test('keeps what was searched for in its fields and in the way on', async () => {
    const { html } = await search({ state: 'failed', commission: '"><script>' });
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;"');
    expect(html).toContain('<option value="failed" selected>');
  });

  test('page by page, has each request once', async () => {
    expect(await readToEnd(many.pool, ledgerPage, { section: 'requests' })).toEqual(ALL);
    const query = { state: 'pending' };
    expect(await readToEnd(many.pool, ledgerPage, { section: 'requests', query })).toEqual(ALL);
  });
});

describe('a request', () => {
  test.each(['0', '999', 'x', '', '12abc', '9'.repeat(30)])(
    'that is not there is not found: %j',
    async (id) => {
      expect((await visit(database.pool, paymentPage, { params: { id } })).content.status).toBe(404);
    },
  );

  test('shows what became of it, and each attempt, the newest first', async () => {
    const { html, text } = await visit(database.pool, paymentPage, { params: { id: '7' } });
    expect(text).toContain('Request 7: mark paid at 2026-04-01 00:00:00 UTC');
    expect(text).toContain('✕ failed tried often enough without success');
    expect(text).toContain('12.34 EUR');
    const { rows } = sectionOf(html, 'attempts');
    expect(rows.map(([id]) => id)).toEqual(['3', '2', '1']);
    expect(rows[1]?.join(' | ')).toContain('503 | API_UNAVAILABLE The program answered 5xx or 408.');
    expect(rows[0]?.[4]).toBe('none came');
  });

  test('with many attempts leads to each of them once, the newest first', async () => {
    const { pool } = await createTestDatabase();
    await pool.query(
      `insert into commission_updates (commission_id, action) values ('${COMMISSIONS[0]}', 'unpay')`,
    );
    // Pairs at one time, and numbers that fall while time goes on.
    await pool.query(`
      insert into commission_update_attempts (update_id, method, sent_at, status)
      select 1, 'GET', now() - n / 2 * interval '1 minute', 503 from generate_series(1, 230) n order by n`);
    const asked = { section: 'attempts', params: { id: '1' } };
    const { rows } = await pool.query<{ id: number }>(
      'select id from commission_update_attempts order by sent_at desc, id desc',
    );
    expect(await readToEnd(pool, paymentPage, asked)).toEqual(rows.map(({ id }) => String(id)));
    for (const before of ['999999', 'x', '']) {
      const { content } = await visit(pool, paymentPage, { params: { id: '1' }, query: { before } });
      expect(content.status).toBeUndefined();
    }
  });

  test('for which nothing was sent says so', async () => {
    const { text } = await visit(database.pool, paymentPage, { params: { id: '1' } });
    expect(text).toContain('Nothing was sent for it.');
  });

  const askAnd = async (change: string) => {
    const { pool } = await createTestDatabase();
    await pool.query(
      `insert into commission_updates (commission_id, action) values ('${COMMISSIONS[0]}', 'unpay')`,
    );
    if (change !== '') await pool.query(`update commission_updates set ${change}`);
    return (await visit(pool, paymentPage, { params: { id: '1' } })).text;
  };

  test('of which the program was never asked does not say that its commission is unpaid', async () => {
    expect(await askAnd('')).toContain('paid, in the program not known payable from not known');
    const unpaid = await askAnd(`before = '{"paid_at": null, "due_at": "2026-03-01T00:00:00Z"}'`);
    expect(unpaid).toContain('paid, in the program unpaid payable from 2026-03-01 00:00:00');
  });

  test.each([
    ["state = 'not_found', outcome = 'gone', finished_at = now()", 'What was sent for it is no longer kept.'],
    [`state = 'conflict', outcome = 'paid', finished_at = now(), before = '{}'`, 'is no longer kept.'],
    ["state = 'cancelled', outcome = 'so', finished_at = now(), attempts = 3", 'is no longer kept.'],
    ["state = 'cancelled', outcome = 'so', finished_at = now()", 'Nothing was sent for it.'],
  ])('whose attempts were pruned does not say that there were none: %s', async (change, words) => {
    expect(await askAnd(change)).toContain(words);
  });
});
