import type { Pool } from '../../src/db/connect/shared-pool.ts';

// Rows with everything that a format may get wrong, in the mirror's own tables.

/** Quotes, line breaks, formulas, emptiness, other scripts, what XML refuses. */
const NAMES = [
  'plain',
  '',
  null,
  'a "quoted", comma; semicolon',
  'two\nlines\r\nand\ttab',
  '=HYPERLINK("http://evil.example")',
  '+1-555',
  '@cmd',
  'Ünï¢ødé 漢字 🎉',
  '_x0041_ looks like an escape',
  'true',
  '007',
];

/** The largest that JSON in JavaScript holds, and beyond. */
const COUNTS = ['0', '1', '9007199254740991', '9007199254740993', '-9223372036854775808', null];

const TIMES = [
  '2026-01-02T03:04:05.678901Z',
  '2026-01-02T23:59:59.999999Z',
  '2026-01-03T00:00:00Z',
  '1969-12-31T23:59:59.999999Z',
  '2026-01-03T12:00:00.1Z',
  null,
];

/** Fills referrals with so many rows, of which every fifth is deleted. Deterministic. */
export async function fillReferrals(pool: Pool, rows: number): Promise<void> {
  // Their _changed_at is given: nothing stamps them.
  await pool.query('alter table referrals disable trigger user');
  await pool.query(
    `insert into referrals
       (id, created_at, customer_name, visits, coupon, _first_seen_at, _changed_at, _observed_at, _deleted_at, _extra)
     select lpad(n::text, 8, '0'),
            (array[${TIMES.map((_, index) => `$${index + 1}`).join(', ')}]::timestamptz[])[1 + n % ${TIMES.length}],
            ($7::text[])[1 + n % ${NAMES.length}],
            ($8::bigint[])[1 + n % ${COUNTS.length}],
            case n % 3 when 0 then jsonb_build_object('code', 'x"' || n, 'list', jsonb_build_array(1, null, 'é'), 'big', 12345678901234567890::numeric) end,
            now(), timestamptz '2026-02-01T00:00:00Z' + n * interval '1.000001 seconds', now(),
            case n % 5 when 0 then timestamptz '2026-03-01T00:00:00.000001Z' end,
            case n % 7 when 0 then '{}'::jsonb end
     from generate_series(1, $9::int) n`,
    [...TIMES, NAMES, COUNTS, rows],
  );
  await pool.query('alter table referrals enable trigger user');
}
