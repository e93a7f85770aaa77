// Reading batches: every spelling that means something is read, and everything else is named with its line.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BATCH_COLUMNS, readBatchFile } from '../../../src/commissions/files/batch-file.ts';
import { sized } from '../../support/sizes.ts';

const A = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
const B = '1b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c12';
const C = '2b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c13';
const AT = '2026-10-01T12:00:00Z';

async function read(text: string | Uint8Array) {
  const { rows, problems } = await readBatchFile(
    typeof text === 'string' ? new TextEncoder().encode(text) : text,
  );
  return { rows, problems: problems.map(({ line, problem }) => `${line ?? 'file'}: ${problem}`) };
}

describe('the same batch is read', () => {
  const expected = [
    { commission_id: A, action: 'pay', paid_at: AT, reason: 'October, "net 30"', expected_unpaid: true },
    { commission_id: B, action: 'unpay', paid_at: null, expected_amount: 1250, expected_currency: 'EUR' },
    { commission_id: C, action: 'due', due_at: '2026-12-01T00:00:00Z', expected_paid_at: AT },
  ];
  const comma = [
    'commission_id,action,paid_at,due_at,expected_paid_at,expected_amount,expected_currency,reason',
    `${A},pay,2026-10-01T12:00:00Z,,unpaid,,,"October, ""net 30"""`,
    `${B},unpay,,,,1250,eur,`,
    `${C},due,,2026-12-01T00:00:00Z,2026-10-01T12:00:00Z,,,`,
  ].join('\n');

  test.each([
    ['as plain CSV', comma],
    ['with a BOM and CRLF', `\uFEFF${comma.replaceAll('\n', '\r\n')}\r\n`],
    ['with old Mac line ends', comma.replaceAll('\n', '\r')],
    [
      'with semicolons, spaces, blank lines, another order, and capitals',
      [
        'Reason ; Paid_At; ACTION ; due at;Expected Currency;expected-amount; expected_paid_at;Commission ID',
        '',
        `"October, ""net 30""" ; 2026-10-01 14:00:00+02 ; Pay;;;;UNPAID; ${A.toUpperCase()}`,
        ` ; ;UNPAY;;eur; 1250 ; ; ${B}`,
        ';;;;;;;',
        `;;due;2026-12-01T00:00Z;;;2026-10-01T12:00:00.000Z;${C}`,
        '',
      ].join('\n'),
    ],
    [
      'with tabs',
      comma.replace('"October, ""net 30"""', '"October| ""net 30"""').replaceAll(',', '\t').replace('|', ','),
    ],
    [
      'as NDJSON',
      [
        {
          commission_id: A,
          action: 'pay',
          paid_at: AT,
          expected_paid_at: 'unpaid',
          reason: 'October, "net 30"',
        },
        { action: 'unpay', commission_id: B, paid_at: null, expected_amount: 1250, expected_currency: 'EUR' },
        { commission_id: C, action: 'due', due_at: '2026-12-01T00:00:00Z', expected_paid_at: AT },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
    ],
  ])('%s', async (_, text) => {
    const { rows, problems } = await read(text);
    expect(problems).toEqual([]);
    expect(rows.map(({ request }) => request)).toMatchObject(expected);
  });

  test('under the same keys, whatever its spelling', async () => {
    const keys = async (text: string) =>
      (await read(text)).rows.map(({ request }) => request.idempotency_key);
    const other = `paid_at,commission_id,action,reason\n2026-10-01 12:00:00 UTC,${A.toUpperCase()},PAY,another reason`;
    const same = `commission_id,action,paid_at\r\n${A},pay,2026-10-01T14:00:00+02:00`;
    expect(await keys(other)).toEqual(await keys(same));
    expect(await keys(`commission_id,action,paid_at\n${A},pay,2026-10-01T14:00:01+02:00`)).not.toEqual(
      await keys(same),
    );
  });
});

test('every bad row of a file is named with its line and the reason, all at once', async () => {
  const header = BATCH_COLUMNS.filter((column) => column !== 'even_if_refunded').join(',');
  const { rows, problems } = await read(
    [
      header,
      `${A},pay,,,,,,,`,
      `${A},paid,${AT},,,,,,`,
      `${A},,${AT},,,,,,`,
      `17,pay,${AT},,,,,,`,
      `,pay,${AT},,,,,,`,
      `${A},pay,2026-10-01,,,,,,`,
      `${A},pay,2026-10-01T12:00:00,,,,,,`,
      `${A},pay,2026-02-30T12:00:00Z,,,,,,`,
      `${A},pay,01/10/2026,,,,,,`,
      `${A},unpay,${AT},,,,,,`,
      `${A},due,,,,,,,`,
      `${A},pay,${AT},${AT},,,,,`,
      `${A},pay,${AT},,,12.50,,,`,
      `${A},pay,${AT},,,,$,,`,
      `${A},pay,${AT},,yesterday,,,,`,
      `${A},pay,${AT}`,
      `${B},pay,${AT},,,,,,key 1`,
      `${B},unpay,,,,,,,key 2`,
      `${C},unpay,,,,,,,key 1`,
    ].join('\n'),
  );
  expect(problems).toEqual([
    expect.stringMatching(/^2: paid_at is blank: pay needs it/),
    expect.stringMatching(/^3: unknown action "paid"/),
    expect.stringMatching(/^4: action is blank/),
    expect.stringMatching(/^5: commission_id "17" is not a UUID/),
    expect.stringMatching(/^6: commission_id is blank/),
    expect.stringMatching(/^7: paid_at "2026-10-01" is a date without a time/),
    expect.stringMatching(/^8: paid_at "2026-10-01T12:00:00" has no time zone/),
    expect.stringMatching(/^9: paid_at "2026-02-30T12:00:00Z" is not in the calendar/),
    expect.stringMatching(
      /^10: paid_at "01\/10\/2026" is 2026-10-01 where the day comes first, and 2026-01-10 /,
    ),
    expect.stringMatching(/^11: paid_at is given with unpay/),
    expect.stringMatching(/^12: due_at is blank/),
    expect.stringMatching(/^13: due_at is given with pay: leave it blank/),
    expect.stringMatching(/^14: expected_amount "12.50" is not a whole number/),
    expect.stringMatching(/^15: expected_currency "\$" is not a currency code/),
    expect.stringMatching(/^16: expected_paid_at "yesterday" is not a timestamp.*or unpaid/),
    expect.stringMatching(/^17: has 3 cells where the header has 9/),
    expect.stringMatching(/^18: the commission 1b2a\S+ gets its paid_at on line 19 too/),
    expect.stringMatching(/^19: the commission 1b2a\S+ gets its paid_at on line 18 too/),
    expect.stringMatching(/^20: idempotency_key "key 1" is on line 18 too/),
  ]);
  expect(rows).toEqual([]);
});

describe('a file that cannot be a batch is refused whole', () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0]);
  test.each([
    ['empty', '', /file: the file is empty/],
    ['a header alone', 'commission_id,action\n', /file: the file holds no rows/],
    ['in UTF-16', utf16, /file: the file is not UTF-8: save it as "CSV UTF-8"/],
    ['in UTF-16 without a mark', utf16.subarray(2), /file: the file is not UTF-8: save it as "CSV UTF-8"/],
    [
      'in Latin-1',
      new Uint8Array([0x61, 0xe9, 0x0a]),
      /file: the file is not UTF-8: save it as "CSV UTF-8" \(spreadsheets\)$/,
    ],
    ['a JSON array', '[{"commission_id":"x"}]', /file: the file is a JSON array/],
    ['with a column missing', `commission_id,paid_at\n${A},${AT}`, /1: the column action is missing/],
    ['with an unknown column', `commission_id,action,paidat\n${A},pay,${AT}`, /1: unknown column "paidat"/],
    [
      'with a column twice',
      `commission_id,action,Action\n${A},pay,pay`,
      /1: the column action is there twice/,
    ],
    ['with an open quote', `commission_id,action,reason\n${A},unpay,"oh`, /a quote was opened/],
    [
      'with a stray quote',
      `commission_id,action,reason\n${A},unpay,"a"b`,
      /file: line 2: the quotes do not match/,
    ],
    [
      'with two stray quotes that make one cell of two rows',
      `commission_id,action,reason\n${A},unpay,"a\n${B},unpay,b"`,
      /2: a cell goes on to line 3 and names a commission there/,
    ],
    [
      'with broken JSON',
      `{"commission_id":"${A}","action":"unpay"}\n{"commission_id":`,
      /2: .* is not one JSON object/,
    ],
    [
      'with a nested value',
      `{"commission_id":"${A}","action":["pay"]}`,
      /1: action must be a text or a number/,
    ],
  ])('%s', async (_, text, problem) => {
    expect((await read(text)).problems.join('\n')).toMatch(problem);
  });
});

test.each([
  ['pay and unpay', 'pay', AT, '', 'unpay', '', ''],
  ['two times', 'pay', AT, '', 'pay', '2026-10-02T12:00:00Z', ''],
])('rows that contradict each other (%s) are all wrong, wherever they are', async (_, ...cells) => {
  const [action, at, key, otherAction, otherAt, otherKey] = cells;
  const { rows, problems } = await read(
    [
      'commission_id,action,paid_at,idempotency_key',
      `${A},${action},${at},${key}`,
      `${B},pay,${AT},`,
      `${A.toUpperCase()},${otherAction},${otherAt},${otherKey}`,
    ].join('\n'),
  );
  expect(rows.map(({ line }) => line)).toEqual([3]);
  expect(problems).toEqual([
    `2: the commission ${A} gets its paid_at on line 4 too: keep one of the two`,
    `4: the commission ${A} gets its paid_at on line 2 too: keep one of the two`,
  ]);
});

test('of rows that ask for the same, none stays: one of them is to be deleted', async () => {
  const { rows, problems } = await read(
    `commission_id,action,paid_at,reason\n${A},pay,${AT},one\n${A},pay,${AT},two\n${B},unpay,,`,
  );
  expect(rows.map(({ line }) => line)).toEqual([4]);
  expect(problems).toEqual([
    `2: the commission ${A} gets its paid_at on line 3 too: keep one of the two`,
    `3: the commission ${A} gets its paid_at on line 2 too: keep one of the two`,
  ]);
});

test('of two commissions with one key, neither is right', async () => {
  const { rows, problems } = await read(
    `commission_id,action,paid_at,idempotency_key\n${A},pay,${AT},K\n${B},pay,${AT},K`,
  );
  expect(rows).toEqual([]);
  expect(problems).toEqual([
    '2: idempotency_key "K" is on line 3 too: keep one of the two',
    '3: idempotency_key "K" is on line 2 too: keep one of the two',
  ]);
});

test('a stray quote in one row hides no mistake of the others', async () => {
  const { problems } = await read(
    `commission_id,action,reason\n${A},unpay,a 5" disk\n${B},nonsense,\n${C},unpay,"a ""b"" c"`,
  );
  expect(problems).toEqual([
    expect.stringMatching(/^file: line 2: the quotes do not match/),
    expect.stringMatching(/^3: unknown action/),
  ]);
});

test('a reason of several lines is a reason', async () => {
  const { rows, problems } = await read(`commission_id,action,reason\n${A},unpay,"late,\nbut agreed"`);
  expect(problems).toEqual([]);
  expect(rows[0]?.request.reason).toBe('late,\nbut agreed');
});

test('even_if_refunded is what the cell says, in English and in German, and false where it is blank', async () => {
  const said = ['true', 'Yes', 'ja', 'WAHR', 'false', 'no', 'Nein', 'falsch', ''];
  const { rows, problems } = await read(
    ['commission_id,action,paid_at,even_if_refunded', ...said.map((word, index) => row(index, word))].join(
      '\n',
    ),
  );
  expect(problems).toEqual([]);
  expect(rows.map(({ request }) => request.even_if_refunded)).toEqual(said.map((_, index) => index < 4));
  expect(
    (await read(`commission_id,action,paid_at,even_if_refunded\n${row(0, 'perhaps')}`)).problems,
  ).toEqual([expect.stringMatching(/^2: even_if_refunded "perhaps" is neither true nor false/)]);

  function row(index: number, word: string): string {
    return `${A.slice(0, -1)}${index},pay,${AT},${word}`;
  }
});

test('an amount of -0 is 0', async () => {
  const { rows } = await read(`commission_id,action,paid_at,expected_amount\n${A},pay,${AT},-0`);
  expect(rows.map(({ request }) => request.expected_amount)).toEqual([0]);
});

test('quoted line breaks do not shift the line numbers', async () => {
  const { problems } = await read(
    `commission_id,action,reason\r\n${A},unpay,"two\r\nlines"\r\n${B},nonsense,\r\n`,
  );
  expect(problems).toEqual([expect.stringMatching(/^4: unknown action/)]);
});

test('a blank paid_at never clears a payment unless the row says unpay, whatever the file', async () => {
  const blank = fc.constantFrom('', ' ', '""', '" "', '\t', 'null', 'NULL', '-', '0', 'unpaid');
  const timestamp = fc.constantFrom(AT, '2026-10-01T12:00:00+02:00', '2026-10-01 12:00:00Z');
  const row = fc.record({
    id: fc.uuid(),
    action: fc.constantFrom('pay', 'unpay', 'due', 'PAY', ' Unpay ', '', 'paid', 'clear'),
    paid_at: fc.oneof(
      blank,
      timestamp,
      fc.string({ maxLength: 6 }).map((text) => text.replace(/[\r\n",;]/g, '')),
    ),
    due_at: fc.oneof(blank, timestamp),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(',', ';', '\t'),
      async (rows, delimiter) => {
        const lines = rows.map(({ id, action, paid_at, due_at }) =>
          [id, action, paid_at, due_at].join(delimiter),
        );
        const text = [['commission_id', 'action', 'paid_at', 'due_at'].join(delimiter), ...lines].join('\n');
        for (const { line, request } of (await read(text)).rows) {
          const said = rows[line - 2]?.action.trim().toLowerCase();
          if (request.action === 'unpay') expect(said).toBe('unpay');
          if (request.action === 'pay') expect(request.paid_at).toMatch(/^\d{4}-.*Z$/);
          expect(request.action === 'unpay' || request.paid_at !== null || request.due_at !== null).toBe(
            true,
          );
        }
      },
    ),
    {
      numRuns: sized(200, 1000),
      examples: [
        // Nothing but the id; a pay whose time is blank, or a word for it; the two times swapped; an action in
        // capitals.
        [[{ id: A, action: '', paid_at: '', due_at: '' }], ','],
        [[{ id: A, action: 'pay', paid_at: '" "', due_at: AT }], ';'],
        [[{ id: A, action: 'pay', paid_at: 'unpaid', due_at: '' }], '\t'],
        [[{ id: A, action: 'due', paid_at: AT, due_at: '' }], ','],
        [[{ id: A, action: ' Unpay ', paid_at: AT, due_at: '' }], ','],
      ],
    },
  );
});

test('an idempotency key has at most 200 characters, however many bytes they are', async () => {
  const keyed = (key: string) => read(`commission_id,action,idempotency_key\n${A},unpay,${key}`);
  expect((await keyed('🔑'.repeat(200))).problems).toEqual([]);
  expect(await keyed('k'.repeat(201))).toEqual({
    rows: [],
    problems: ['2: idempotency_key has 201 characters: shorten it to 200 or fewer'],
  });
});
