// The manifest of an export. It is written last, so that a reader who finds it finds a whole export. It is also the
// document of `export --json`.

import { z } from 'zod';
import { EXPORT_FORMATS } from '../config/process/exports.ts';

const count = (meaning: string) => z.int().nonnegative().describe(meaning);
const text = (meaning: string) => z.string().describe(meaning);
const timestamp = (meaning: string) => z.iso.datetime({ offset: true }).describe(meaning);

const column = z.object({ name: text('its name'), type: text("its type, in Postgres' own words") });

const file = z.object({
  path: text('its path, relative to the manifest'),
  rows: count('its rows'),
  bytes: count('its size'),
  sha256: text('its SHA-256, in hexadecimal'),
});

export const manifest = z
  .object({
    object: text('the table or view, with its schema'),
    kind: z.enum(['whole', 'changes']).describe('whole: every row; changes: those that changed after since'),
    format: z.enum(EXPORT_FORMATS).describe('of the files'),
    rows: count('rows of all files'),
    as_of: timestamp(
      'all that was committed by then is in it; every row is of one moment, this one or a few milliseconds later',
    ),
    since: timestamp('only the changes after that; null for every row').nullable(),
    watermark: timestamp(
      'the highest _changed_at of the table: later changes are not here. Null if it has no such column, or no row',
    ).nullable(),
    where: text('the condition of --where; null if there was none').nullable(),
    partitioned_by: text('the column by whose days the files are split; null for one file').nullable(),
    columns: z.array(column).readonly().describe('in the order of the files'),
    files: z
      .array(file)
      .readonly()
      .describe('all files of the export; none if nothing changed, and nothing was written'),
    version: text('of affiliate-mirror'),
  })
  .meta({ title: 'affiliate-mirror export --json' });

export type Manifest = z.infer<typeof manifest>;
export type ManifestFile = Manifest['files'][number];
