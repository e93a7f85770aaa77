// The pages of the payment ledger, with requests in every state.

import { describe, expect, onTestFinished, test } from 'vitest';
import { setDisplayZone } from '../../../src/contract/time-zone.ts';
import { makeDatabase } from '../../../src/db/database.ts';
import { readHealth } from '../../../src/reports/read-health.ts';
import { batchView } from '../../../src/web/views/batch.ts';
import { ledgerView } from '../../../src/web/views/ledger.ts';
import { paymentView } from '../../../src/web/views/payment.ts';
import { paymentsView } from '../../../src/web/views/payments.ts';
import { payoutView } from '../../../src/web/views/payout.ts';
import { createTestDatabase } from '../../support/database.ts';
import { AFFILIATE, COMMISSIONS, HOSTILE, PAYOUT, storeFindings } from './store-findings.ts';
import { linksOf, sectionOf, visit } from './visit.ts';

const database = await createTestDatabase();
const empty = await createTestDatabase();
await storeFindings(database.pool);

const BATCH = `secret/../batch?${HOSTILE}`;

describe('payments', () => {
  test('of a mirror without any say how to ask', async () => {
    const { text } = await visit(empty.pool, paymentsView, { mayReadPeople: true });
    expect(text).toContain('Nothing was asked for yet.');
    expect(text).toContain('No request is pending.');
    expect(text).toContain('Nothing was sent within a day.');
  });

  test('show every state with its requests, and what waits longest', async () => {
    const { html } = await visit(database.pool, paymentsView);
    const { rows } = sectionOf(html, 'states');
    expect(rows).toHaveLength(9);
    expect(rows.find(([state]) => state === '✕ failed')?.[1]).toBe('1');
    expect(sectionOf(html, 'oldest').text).toContain('Request 1 for the commission');
    expect(linksOf(html)).toContain('/site/payments/ledger?state=not_found');
  });

  test('need attention as long as no later request for the same value followed them', async () => {
    const { pool } = await createTestDatabase();
    const ask = async (state: string, action = 'pay', commission = COMMISSIONS[0]) => {
      await pool.query(
        `insert into commission_updates (commission_id, action, paid_at, due_at, batch_id, requested_by)
         values ($1, $2, case when $2 = 'pay' then now() end, case when $2 = 'due' then now() end, 'march', 'Margaret')`,
        [commission, action],
      );
      await pool.query(
        `update commission_updates set state = $1, outcome = $1, finished_at = now() where state = 'pending'`,
        [state],
      );
    };
    const seen = async () => {
      const { html } = await visit(pool, paymentsView, { mayReadPeople: true });
      const { health } = await readHealth({ db: makeDatabase(pool), mirrorSchema: 'mirror' });
      const page = await visit(pool, ledgerView);
      return {
        states: sectionOf(html, 'states').rows.map(([state, , attention]) => [state, attention]),
        status: health.payments.states.map(({ needing_attention }) => String(needing_attention)),
        reasons: sectionOf(html, 'reasons').rows.map(([, reason]) => reason),
        ledger: sectionOf(page.html, 'requests').rows.map(([, state]) => state),
      };
    };
    await ask('conflict');
    await ask('applied', 'due');
    await ask('applied', 'pay', COMMISSIONS[1]);
    await ask('cancelled');
    expect(await seen()).toEqual({
      states: [
        ['✓ applied', '0'],
        ['○ cancelled', '0'],
        ['▲ conflict', '1'],
      ],
      status: ['0', '0', '1'],
      reasons: ['cancelled', 'conflict'],
      ledger: ['○ cancelled', '✓ applied', '✓ applied', '▲ conflict'],
    });
    await ask('applied');
    expect(await seen()).toEqual({
      states: [
        ['✓ applied', '0'],
        ['○ cancelled', '0'],
        ['○ conflict', '0'],
      ],
      status: ['0', '0', '0'],
      reasons: ['cancelled'],
      ledger: ['✓ applied', '○ cancelled', '✓ applied', '✓ applied', '○ conflict then request 5'],
    });
    const corrected = await visit(pool, paymentView, { params: { id: '1' } });
    expect(corrected.text).toContain('○ conflict then request 5');
    await ask('failed');
    await ask('not_found');
    expect((await seen()).ledger.slice(0, 2)).toEqual(['▲ not found', '○ failed then request 7']);
  });

  test('lead to each batch, whose name is shown only to those who may see people', async () => {
    for (const mayReadPeople of [true, false]) {
      const { html } = await visit(database.pool, paymentsView, { mayReadPeople });
      const ledger = await visit(database.pool, ledgerView, { mayReadPeople });
      const named = sectionOf(ledger.html, 'requests').rows.filter((row) => row.join(' ').includes(BATCH));
      expect(named).toHaveLength(mayReadPeople ? 3 : 0);
      const links = linksOf(sectionOf(html, 'batches').html);
      expect(links).toHaveLength(2);
      const counts = [];
      for (const link of links) {
        const id = link.replace('/site/payments/batches/', '');
        const page = await visit(database.pool, batchView, { params: { id }, mayReadPeople });
        expect(page.text.includes(BATCH)).toBe(mayReadPeople && counts.length === 1);
        counts.push(sectionOf(page.html, 'requests').rows.length);
      }
      expect(counts).toEqual([6, 3]);
    }
  });
});

describe('the payment ledger', () => {
  const search = async (query: Record<string, string>, mayReadPeople = false) => {
    const { html, text } = await visit(database.pool, ledgerView, { query, mayReadPeople });
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
});

describe('payouts', () => {
  test('are shown by state and currency, if the API lists them', async () => {
    const { html } = await visit(database.pool, paymentsView);
    expect(sectionOf(html, 'payouts').rows).toEqual([['○ due', 'USD', '1', '24.68 USD']]);
    expect((await visit(empty.pool, paymentsView)).text).not.toContain('Payouts of the affiliate program');
  });

  test('are shown one by one, with their commissions and the requests that name them', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    const before = await visit(pool, payoutView, { params: { id: PAYOUT } });
    expect(before.text).toContain('Its payment was not asked for.');
    await pool.query(
      `insert into commission_updates (payout_id, action, requested_by) values ($1, 'pay', 'secret Margaret')`,
      [PAYOUT],
    );
    const { html, text } = await visit(pool, payoutView, { params: { id: PAYOUT.toUpperCase() } });
    expect(text).toContain(`state ○ due amount 24.68 USD affiliate ${AFFILIATE} commissions 2`);
    const { rows } = sectionOf(html, 'commissions');
    expect(rows.map(([id, , amount, , , waiting]) => [id, amount, waiting])).toEqual([
      [COMMISSIONS[0], '12.34 EUR', '1'],
      [COMMISSIONS[1], '12.34 USD', '–'],
    ]);
    expect(sectionOf(html, 'requests').rows.map(([request, state]) => [request, state])).toEqual([
      ['10', '● pending'],
    ]);
    const place = `/site/payments/payouts/${PAYOUT}`;
    const ledger = await visit(pool, ledgerView);
    expect(linksOf(ledger.html).filter((link) => link === place)).toHaveLength(1);
    const request = await visit(pool, paymentView, { params: { id: '10' } });
    expect(request.text).toContain(`payout ${PAYOUT} amount`);
    expect(linksOf(request.html)).toContain(place);
    const ofCommission = await visit(pool, paymentView, { params: { id: '1' } });
    expect(ofCommission.text).toContain(`commission ${COMMISSIONS[0]} payout ${PAYOUT} amount`);
    await pool.query(
      `update commission_updates set state = 'cancelled', outcome = 'x', finished_at = now() where id = 1`,
    );
    const { html: payments } = await visit(pool, paymentsView);
    expect(sectionOf(payments, 'oldest').text).toContain(`Request 10 for the payout ${PAYOUT} waits`);
  });

  test('that are gone, or that the mirror never had, keep their requests', async () => {
    const { pool } = await createTestDatabase();
    await storeFindings(pool);
    await pool.query('update payouts set _deleted_at = now()');
    const gone = await visit(pool, payoutView, { params: { id: PAYOUT } });
    expect(gone.text).toContain('gone from the API');
    const never = PAYOUT.replaceAll('d', 'e');
    await pool.query(`insert into commission_updates (payout_id, action) values ($1, 'pay')`, [never]);
    const { content, text, html } = await visit(pool, payoutView, { params: { id: never } });
    expect(content.status).toBeUndefined();
    expect(text).toContain('The mirror does not have this payout.');
    expect(sectionOf(html, 'requests').rows).toHaveLength(1);
    expect((await visit(pool, payoutView, { params: { id: 'x' } })).content.status).toBe(404);
  });
});

describe('a request', () => {
  test('shows what became of it, and each attempt, the newest first', async () => {
    const { html, text } = await visit(database.pool, paymentView, { params: { id: '7' } });
    expect(text).toContain('Request 7: mark paid at 2026-04-01 00:00:00 UTC');
    expect(text).toContain('✕ failed gave up after several tries');
    expect(text).toContain('12.34 EUR');
    const { rows } = sectionOf(html, 'attempts');
    expect(rows.map(([id]) => id)).toEqual(['3', '2', '1']);
    expect(rows[1]?.join(' | ')).toContain('503 | API_UNAVAILABLE The API answered 5xx or 408.');
    expect(rows[0]?.[4]).toBe('none came');
  });

  test('reads in the display zone, and has UTC beside it', async () => {
    onTestFinished(() => setDisplayZone('UTC'));
    setDisplayZone('Europe/Berlin');
    const { html, text } = await visit(database.pool, paymentView, { params: { id: '7' } });
    expect(text).toContain('Request 7: mark paid at 2026-04-01 02:00 +02:00');
    expect(html).toMatch(/<time datetime="[^"]+Z" title="[\d: -]{19} UTC">[\d: -]{16,19} \+0[12]:00<\/time>/);
    const ledger = await visit(database.pool, ledgerView);
    expect(ledger.text).toContain('mark paid at 2026-04-01 02:00 +02:00');
    expect(ledger.text).not.toMatch(/UTC|\dZ/);
  });

  const askAnd = async (change: string) => {
    const { pool } = await createTestDatabase();
    await pool.query(
      `insert into commission_updates (commission_id, action) values ('${COMMISSIONS[0]}', 'unpay')`,
    );
    if (change !== '') await pool.query(`update commission_updates set ${change}`);
    return (await visit(pool, paymentView, { params: { id: '1' } })).text;
  };

  test('of which the program was never asked does not say that its commission is unpaid', async () => {
    expect(await askAnd('')).toContain('paid, in the API not known payable from not known');
    const unpaid = await askAnd(`before = '{"paid_at": null, "due_at": "2026-03-01T00:00:00Z"}'`);
    expect(unpaid).toContain('paid, in the API unpaid payable from 2026-03-01 00:00:00');
  });

  test.each([
    ["state = 'not_found', outcome = 'gone', finished_at = now()", 'The attempts were deleted by age.'],
    [`state = 'conflict', outcome = 'paid', finished_at = now(), before = '{}'`, 'were deleted by age.'],
    ["state = 'cancelled', outcome = 'so', finished_at = now(), attempts = 3", 'were deleted by age.'],
    ["state = 'cancelled', outcome = 'so', finished_at = now()", 'Nothing was sent.'],
  ])('whose attempts were pruned does not say that there were none: %s', async (change, words) => {
    expect(await askAnd(change)).toContain(words);
  });
});
