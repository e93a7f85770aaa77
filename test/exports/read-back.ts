// Reads exported files as other programs would, into one form for all formats: each value as text, times as
// microseconds since 1970. And the same rows as Postgres has them.

import { parse } from 'csv-parse/sync';
import { streamXlsxRows } from 'hucre/xlsx';
import type { Pool } from '../../src/db/connect/shared-pool.ts';
import { readParquetFile } from '../support/read-parquet.ts';

export interface ReadColumn {
  readonly name: string;
  /** As Postgres names it. */
  readonly type: string;
}

type Values = (string | null)[][];

const MICROS = /^(.{19})(?:\.(\d+))?Z$/;

/** Returns the values of a manifest's columns in a file of that format. */
export async function readBack(
  format: string,
  bytes: Buffer,
  columns: readonly ReadColumn[],
): Promise<Values> {
  if (format === 'parquet') return readParquetValues(bytes, columns);
  if (format === 'ndjson') return readNdjson(bytes, columns);
  if (format === 'csv') return readCsv(bytes, columns);
  return readWorkbook(bytes, columns);
}

/** Returns the values that Postgres has, ordered by the first column. */
export async function readDatabase(
  pool: Pool,
  relation: string,
  columns: readonly ReadColumn[],
): Promise<Values> {
  const values = columns.map(({ name, type }) => {
    if (isTime({ type })) return `(extract(epoch from "${name}") * 1000000)::bigint::text`;
    return `"${name}"::text`;
  });
  const { rows } = await pool.query<Values[number]>({
    text: `select ${values.join(', ')} from ${relation} order by 1`,
    rowMode: 'array',
  });
  return rows.map((row) => row.map((value, index) => (isJson(columns[index]) ? spellJson(value) : value)));
}

function readCsv(bytes: Buffer, columns: readonly ReadColumn[]): Values {
  // What is quoted and empty is an empty text; what is only empty is null.
  const [header, ...rows] = parse(bytes, {
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as unknown as Values;
  expectHeader(header, columns);
  return rows.map((row) => row.map((value, index) => canonical(value, columns[index])));
}

function readNdjson(bytes: Buffer, columns: readonly ReadColumn[]): Values {
  return bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      const exact = JSON.parse(line, function (key, value, context?: { source?: string }) {
        // Numbers with all of their digits, but for those in JSON of the table's own.
        const isColumn =
          columns.some(({ name }) => name === key) && Object.hasOwn(this, columns[0]?.name ?? '');
        return typeof value === 'number' && isColumn ? context?.source : value;
      });
      expectHeader(Object.keys(exact), columns);
      return columns.map((column) => {
        const value = exact[column.name];
        return isJson(column) && value !== null ? JSON.stringify(value) : canonical(value, column);
      });
    });
}

function readParquetValues(bytes: Buffer, columns: readonly ReadColumn[]): Values {
  const { types, columns: values } = readParquetFile(bytes);
  expectHeader(Object.keys(types), columns);
  for (const column of columns) {
    const { name, type } = column;
    const wanted = isTime(column) ? 'Timestamp<MICROSECOND, UTC>' : (ARROW[type] ?? 'Utf8');
    if (types[name] !== wanted) throw new Error(`${name} is ${types[name]}, not ${wanted}`);
  }
  return Array.from({ length: values[columns[0]?.name ?? '']?.length ?? 0 }, (_, index) =>
    columns.map((column) => {
      const value = values[column.name]?.[index];
      if (value == null) return null;
      return isJson(column) ? spellJson(String(value)) : String(value);
    }),
  );
}

const ARROW: Readonly<Record<string, string>> = {
  bigint: 'Int64',
  integer: 'Int64',
  'double precision': 'Float64',
  boolean: 'Bool',
  'numeric(38,0)': 'Decimal[38e0]',
};

async function readWorkbook(bytes: Buffer, columns: readonly ReadColumn[]): Promise<Values> {
  const rows: Values = [];
  let header: (string | null)[] | null = null;
  for await (const { values } of streamXlsxRows(bytes)) {
    if (header === null) {
      header = values.map((name, index) =>
        isTime(columns[index]) ? String(name).replace(/_utc$/, '') : String(name).replace(/_major$/, ''),
      );
    } else {
      rows.push(
        columns.map((column, index) => {
          const value = values[index] ?? null;
          if (value instanceof Date) return `${BigInt(value.getTime()) * 1000n}`;
          return value === null ? null : canonical(String(value), column);
        }),
      );
    }
  }
  expectHeader(header ?? [], columns);
  return rows;
}

function canonical(value: unknown, column: ReadColumn | undefined): string | null {
  if (value == null) return null;
  const text = String(value);
  if (isJson(column)) return spellJson(text);
  const [, whole, fraction = ''] = MICROS.exec(text) ?? [];
  if (whole === undefined || !isTime(column)) return text;
  return `${BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'))}`;
}

function spellJson(text: string | null): string | null {
  return text === null ? null : JSON.stringify(JSON.parse(text));
}

function isTime(column: Pick<ReadColumn, 'type'> | undefined): boolean {
  return column?.type === 'timestamp with time zone';
}

function isJson(column: ReadColumn | undefined): boolean {
  return column?.type === 'jsonb' || column?.type === 'json';
}

function expectHeader(header: readonly (string | null)[] | undefined, columns: readonly ReadColumn[]): void {
  const names = columns.map(({ name }) => name).join();
  if (header?.join() !== names) throw new Error(`the columns are ${header}, not ${names}`);
}
