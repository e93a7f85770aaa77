// Parquet, compressed with ZSTD, in types that every reader accepts: times as microseconds in UTC, counts and money as
// INT64, sums of money as DECIMAL (INT64 may be too small), JSON as plain text (some readers refuse its logical type).

import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { escapeIdentifier } from 'pg';
import { ConfigError } from '../../base/errors.ts';
import { readVersion } from '../../base/package.ts';
import type { Column, ColumnKind } from '../relation.ts';
import type { Row } from '../rows.ts';
import { expressAsText, type Format, type Sink } from './format.ts';

type Element = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];
type Value = string | number | bigint | boolean | null;

/**
 * An export of 1,000,000 rows of 13 columns to a bucket takes some 215 MB of memory with 10,000 rows in a group, 195
 * with 5,000 (and 5 % more bytes), and 215 again with 2,500, because the end of the file describes each group.
 */
const GROUP = 5_000;

export const PARQUET: Format = {
  contentType: 'application/vnd.apache.parquet',
  express: (column) => KINDS[column.kind].express?.(escapeIdentifier(column.name)) ?? expressAsText(column),
  async write({ columns, rows }, sink) {
    const bytes = new ByteWriter();
    const writer = new ParquetWriter({
      writer: bytes,
      schema: [{ name: 'root', num_children: columns.length }, ...columns.map(describe)],
      codec: 'ZSTD',
      compressors: { ZSTD: (input) => zstdCompressSync(input) },
      createdBy: `affiliate-mirror ${readVersion()}`,
    });
    let group = columns.map((): Value[] => []);
    const flush = async () => {
      await writer.write({
        columnData: columns.map(({ name }, index) => ({ name, data: group[index] ?? [] })),
        rowGroupSize: GROUP,
      });
      group = columns.map(() => []);
      await drain(bytes, sink);
    };
    for await (const batch of rows) {
      for (const row of batch) {
        for (const [index, column] of columns.entries()) {
          const text = row[index] ?? null;
          if (MAY_BE_INFINITE.has(column.kind) && text?.endsWith('Infinity'))
            throw refuseInfinity(column, columns, row);
          group[index]?.push(text === null ? null : KINDS[column.kind].read(text));
        }
      }
      if ((group[0]?.length ?? 0) >= GROUP) await flush();
    }
    if ((group[0]?.length ?? 0) > 0) await flush();
    await writer.finish();
    await drain(bytes, sink);
  },
};

const MAY_BE_INFINITE: ReadonlySet<ColumnKind> = new Set(['timestamp', 'date']);

function refuseInfinity({ name }: Column, columns: readonly Column[], row: Row): ConfigError {
  const [first] = columns;
  const where = first === undefined || first.name === name ? 'in a row' : `where ${first.name} is ${row[0]}`;
  return new ConfigError([
    `${name} is infinity ${where}, which Parquet cannot hold: correct the row, leave it out with --where, or choose another format`,
  ]);
}

/** Writes the bytes so far to the sink. `offset`, by which the file's index counts, goes on. */
async function drain(bytes: ByteWriter, sink: Sink): Promise<void> {
  if (bytes.index === 0) return;
  // A copy, because the buffer is used again.
  const written = Buffer.from(bytes.getBytes());
  bytes.index = 0;
  await sink(written);
}

interface Kind {
  readonly element: Omit<Element, 'name'>;
  /** Returns the column's expression; its text if left out. */
  readonly express?: (identifier: string) => string;
  readonly read: (text: string) => Value;
}

const TEXT: Kind = { element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' }, read: (text) => text };

const KINDS: Readonly<Record<ColumnKind, Kind>> = {
  text: TEXT,
  json: TEXT,
  integer: { element: { type: 'INT64' }, read: BigInt },
  sum: {
    element: {
      type: 'FIXED_LEN_BYTE_ARRAY',
      type_length: 16,
      converted_type: 'DECIMAL',
      precision: 38,
      scale: 0,
    },
    read: BigInt,
  },
  double: { element: { type: 'DOUBLE' }, read: Number },
  boolean: { element: { type: 'BOOLEAN' }, read: (text) => text === 't' },
  timestamp: {
    element: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MICROS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    },
    // Not as bigint, so that the row of an infinite time can be named.
    express: (identifier) => `trunc(extract(epoch from ${identifier}) * 1000000)`,
    read: BigInt,
  },
  date: {
    element: { type: 'INT32', converted_type: 'DATE' },
    express: (identifier) => `trunc(extract(epoch from ${identifier}) / 86400)`,
    read: Number,
  },
};

function describe({ name, kind }: Column): Element {
  return { name, repetition_type: 'OPTIONAL', ...KINDS[kind].element };
}
