// The manifest of an export: what is in it, written last, so that whoever finds it finds a whole export. It is also the
// document of `export --json`.

import { z } from 'zod';
import { EXPORT_FORMATS } from '../config/exports.ts';

const count = (meaning: string) => z.int().nonnegative().describe(meaning);
const text = (meaning: string) => z.string().describe(meaning);
const timestamp = (meaning: string) => z.iso.datetime({ offset: true }).describe(meaning);

const column = z.object({ name: text('its name'), type: text("its type, in Postgres' own words") });

const file = z.object({
  path: text('where it is, beside the manifest'),
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
      'what was committed by then is in it; every row is of one moment, this one or a few milliseconds later',
    ),
    since: timestamp('only what changed after that; null for all there was').nullable(),
    watermark: timestamp(
      'the highest _changed_at that the table had: changes after it are not here. Null where it has no such column, or no row',
    ).nullable(),
    where: text('the condition of --where; null where there was none').nullable(),
    partitioned_by: text('the column whose days the files are of; null for one file').nullable(),
    columns: z.array(column).readonly().describe('in the order of the files'),
    files: z
      .array(file)
      .readonly()
      .describe('everything that belongs to the export; none where nothing changed, and nothing was written'),
    version: text('of affiliate-mirror'),
  })
  .meta({ title: 'affiliate-mirror export --json' });

export type Manifest = z.infer<typeof manifest>;
export type ManifestFile = Manifest['files'][number];
