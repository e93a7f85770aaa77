// The formats by name. Parquet's library is loaded where it is asked for: it takes a tenth of the start of an export.

import type { ExportFormat } from '../../config/exports.ts';
import { CSV } from './csv.ts';
import type { Format } from './format.ts';
import { NDJSON } from './ndjson.ts';
import { XLSX } from './xlsx.ts';

/** Returns the format. */
export async function loadFormat(name: ExportFormat): Promise<Format> {
  if (name === 'parquet') return (await import('./parquet.ts')).PARQUET;
  return { csv: CSV, ndjson: NDJSON, xlsx: XLSX }[name];
}
