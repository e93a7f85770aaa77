// Reading batches: every spelling that means something is read, and everything else is named with its line.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BATCH_COLUMNS, readBatchFile } from '../../../src/payments/files/batch-file.ts';
import { describeProblems } from '../../../src/payments/files/raw-table.ts';
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
  const lines: readonly (readonly [line: string, says: RegExp])[] = [
    [`${A},pay,,,,,,,`, /^2: paid_at is blank: pay needs it/],
    [`${A},paid,${AT},,,,,,`, /^3: unknown action "paid"/],
    [`${A},,${AT},,,,,,`, /^4: action is blank/],
    [`17,pay,${AT},,,,,,`, /^5: commission_id "17" is not a UUID/],
    [`,pay,${AT},,,,,,`, /^6: commission_id is blank/],
    [`${A},pay,2026-10-01,,,,,,`, /^7: paid_at "2026-10-01" is a date without a time/],
    [`${A},pay,2026-10-01T12:00:00,,,,,,`, /^8: paid_at "2026-10-01T12:00:00" has no time zone/],
    [`${A},pay,2026-02-30T12:00:00Z,,,,,,`, /^9: paid_at "2026-02-30T12:00:00Z" is not in the calendar/],
    [`${A},unpay,${AT},,,,,,`, /^10: paid_at is given with unpay/],
    [`${A},due,,,,,,,`, /^11: due_at is blank/],
    [`${A},pay,${AT},${AT},,,,,`, /^12: due_at is given with pay: leave it blank/],
    [`${A},pay,${AT},,,12.50,,,`, /^13: expected_amount "12.50" is not a whole number/],
    [`${A},pay,${AT},,,,$,,`, /^14: expected_currency "\$" is not a currency code/],
    [`${A},pay,${AT},,yesterday,,,,`, /^15: expected_paid_at "yesterday" is not a timestamp.*or unpaid/],
    [`${A},pay,${AT}`, /^16: has 3 cells where the header has 9/],
    [`${B},pay,${AT},,,,,,key 1`, /^17: the commission 1b2a\S+ gets its paid_at on line 18 too/],
    [`${B},unpay,,,,,,,key 2`, /^18: the commission 1b2a\S+ gets its paid_at on line 17 too/],
    [`${C},unpay,,,,,,,key 1`, /^19: idempotency_key "key 1" is on line 17 too/],
  ];
  const left = ['even_if_refunded', 'expected_amount_major'];
  const header = BATCH_COLUMNS.filter((column) => !left.includes(column)).join(',');
  const { rows, problems } = await read([header, ...lines.map(([line]) => line)].join('\n'));
  expect(problems).toEqual(lines.map(([, says]) => expect.stringMatching(says)));
  expect(rows).toEqual([]);
});

const HEADER = 'commission_id,action,reason';

test.each<[string, string | Uint8Array, RegExp]>([
  ['empty', '', /file: the file is empty/],
  ['a header alone', 'commission_id,action\n', /file: the file holds no rows/],
  ['in UTF-16', new Uint8Array([0xff, 0xfe, 0x61, 0, 0x2c, 0]), /file: the file is not UTF-8: save it as/],
  ['in Latin-1', new Uint8Array([0x61, 0xe9, 0x0a]), /file: the file is not UTF-8: save it as "CSV UTF-8"/],
  ['JSON', '[{"commission_id":"x"}]', /file: the file is JSON: write CSV/],
  ['of a column twice', `commission_id,action,Action\n${A},pay,pay`, /1: the column action is there twice/],
  ['with an open quote', `${HEADER}\n${A},unpay,"oh`, /^file: line \d+: a quote was opened/],
  ['with a stray quote', `${HEADER}\n${A},unpay,"a"b`, /file: line 2: the quotes do not match/],
  [
    'with two stray quotes that make one cell of two rows',
    `${HEADER}\n${A},unpay,"a\n${B},unpay,b"`,
    /2: a cell goes on to line 3 and names a commission there/,
  ],
])('a file that cannot be a batch is refused whole: %s', async (_, text, problem) => {
  expect((await read(text)).problems.join('\n')).toMatch(problem);
});

test('rows that contradict each other are all wrong, wherever they are', async () => {
  const lines = [`${A},pay,${AT}`, `${B},pay,${AT}`, `${A.toUpperCase()},pay,2026-10-02T12:00:00Z`];
  const { rows, problems } = await read(['commission_id,action,paid_at', ...lines].join('\n'));
  expect(rows.map(({ line }) => line)).toEqual([3]);
  expect(problems).toEqual([
    `2: the commission ${A} gets its paid_at on line 4 too: keep one of the two`,
    `4: the commission ${A} gets its paid_at on line 2 too: keep one of the two`,
  ]);
});

test.each([
  [
    'a stray quote in one row hides no mistake of the others',
    `${HEADER}\n${A},unpay,a 5" disk\n${B},nonsense,\n${C},unpay,"a ""b"" c"`,
    [/^file: line 2: the quotes do not match/, /^3: unknown action/],
  ],
  [
    'quoted line breaks do not shift the line numbers',
    `${HEADER}\r\n${A},unpay,"two\r\nlines"\r\n${B},nonsense,\r\n`,
    [/^4: unknown action/],
  ],
])('%s', async (_, text, problems) => {
  expect((await read(text)).problems).toEqual(problems.map((one) => expect.stringMatching(one)));
});

test('even_if_refunded is what the cell says, in English and in German, and false where it is blank', async () => {
  const said = ['true', 'Yes', 'ja', 'WAHR', 'false', 'no', 'Nein', 'falsch', ''];
  const readWords = (words: readonly string[]) => {
    const rows = words.map((word, index) => `${A.slice(0, -1)}${index},pay,${AT},${word}`);
    return read(['commission_id,action,paid_at,even_if_refunded', ...rows].join('\n'));
  };
  const { rows, problems } = await readWords(said);
  expect(problems).toEqual([]);
  expect(rows.map(({ request }) => request.even_if_refunded)).toEqual(said.map((_, index) => index < 4));
  const refusal = /^2: even_if_refunded "perhaps" is neither true nor false/;
  expect((await readWords(['perhaps'])).problems).toEqual([expect.stringMatching(refusal)]);
});

test('an amount of -0 is 0', async () => {
  const { rows } = await read(`commission_id,action,paid_at,expected_amount\n${A},pay,${AT},-0`);
  expect(rows.map(({ request }) => request.expected_amount)).toEqual([0]);
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
          const hasTime = request.paid_at !== null || request.due_at !== null;
          expect(request.action === 'unpay' || hasTime).toBe(true);
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

test('equal problems are one line, further ones of a kind name their lines, and the one other is not buried', async () => {
  const ids = Array.from({ length: 600 }, (_, index) =>
    A.replace('0b2a', index.toString(16).padStart(4, '0')),
  );
  const rows = ids.map((id, index) => `${id},pay,${index === 300 ? '2026-10-1x' : '01.10.2026'}`);
  const equal = await readBatchFile(Buffer.from(`commission_id,action,paid_at\n${rows.join('\n')}\n`));
  expect(describeProblems(equal.problems)).toEqual([
    expect.stringMatching(/^lines 2 to 301, 303 to 601: paid_at "01\.10\.2026" is a date without a time: /),
    expect.stringMatching(/^line 302: paid_at "2026-10-1x" is not a timestamp/),
  ]);

  const others = ids.map(
    (id, index) => `${index < 500 ? `${id}x` : id},${index === 550 ? 'payy' : 'pay'},${AT}`,
  );
  const kinds = await readBatchFile(Buffer.from(`commission_id,action,paid_at\n${others.join('\n')}\n`));
  const words = describeProblems(kinds.problems);
  expect(words).toHaveLength(7);
  expect(words[0]).toBe(`line 2: commission_id "${ids[0]}x" is not a UUID`);
  expect(words[5]).toBe('lines 7 to 501: the same with other values');
  expect(words[6]).toBe('line 552: unknown action "payy": it must be pay, unpay or due');
});

test('many lines apart from each other are counted', () => {
  const problems = Array.from({ length: 130 }, (_, index) => ({ line: 2 * index + 2, problem: 'is wrong' }));
  const [equal, ...ofFile] = describeProblems([
    ...problems,
    ...Array.from({ length: 9 }, (_, index) => ({ line: null, problem: `sheet ${index} is wrong` })),
  ]);
  expect(equal).toMatch(/^lines 2, 4, 6, .*, 198, 200 and 30 more: is wrong$/);
  expect(ofFile).toHaveLength(9);
});
