// Reads Parquet by another implementation than the one that writes it: parquet-wasm, which is Rust's.

import { DataType, type Table, tableFromIPC, type Vector } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node';

export interface ParquetTable {
  /** By name: Arrow's own words for the type. */
  readonly types: Readonly<Record<string, string>>;
  /** By name. Times are microseconds since 1970, as bigint; counts are bigint too. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** Returns what the file holds; of these columns alone, where they are named. */
export function readParquetFile(bytes: Uint8Array, only?: readonly string[]): ParquetTable {
  const options = only === undefined ? {} : { columns: [...only] };
  const table: Table = tableFromIPC(readParquet(bytes, options).intoIPCStream());
  const columns = table.schema.fields.map(({ name, type }) => [name, type, table.getChild(name)] as const);
  return {
    types: Object.fromEntries(columns.map(([name, type]) => [name, String(type)])),
    columns: Object.fromEntries(
      columns.map(([name, , vector]) => [name, vector === null ? [] : read(vector)]),
    ),
  };
}

function read(vector: Vector): unknown[] {
  // Arrow's own way to a timestamp goes through milliseconds.
  if (!DataType.isTimestamp(vector.type)) return [...vector];
  return vector.data.flatMap((chunk) =>
    Array.from({ length: chunk.length }, (_, index) => (chunk.getValid(index) ? chunk.values[index] : null)),
  );
}
