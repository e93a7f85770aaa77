// The formats by name. Loading one may take longer than a short export, so each is loaded where it is asked for.

import type { ExportFormat } from '../../config/exports.ts';
import type { Format } from './format.ts';

const LOADERS: Readonly<Record<ExportFormat, () => Promise<Format>>> = {
  csv: async () => (await import('./csv.ts')).CSV,
  ndjson: async () => (await import('./ndjson.ts')).NDJSON,
  parquet: async () => (await import('./parquet.ts')).PARQUET,
  xlsx: async () => (await import('./xlsx.ts')).XLSX,
};

/** Returns the format. */
export function loadFormat(name: ExportFormat): Promise<Format> {
  return LOADERS[name]();
}
