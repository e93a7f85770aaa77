// The document of `migrate --json`, with and without --dry-run.

import { z } from 'zod';
import { text, yesNo } from '../../reports/fields.ts';

export const migrateDocument = z
  .object({
    schema: text('the schema of the mirror'),
    database: text('the database: its name, host and port'),
    dry_run: yesNo('nothing was changed'),
    migrations: z
      .array(z.string())
      .describe('files of migrations/ in their order: those that were applied, or in a dry run would be'),
    advanced_identities: z
      .array(z.string())
      .describe(
        'identity columns that gave new rows numbers which other rows had: those that go on behind the highest now, or in a dry run would',
      ),
    remade_reports: text(
      'the schema of the reports, where its views were lost and were made again, or in a dry run would be; else null',
    ).nullable(),
    queue_schema: text('the schema that keeps the queue; null where Redis does').nullable(),
    queue_is_up_to_date: yesNo(
      'it was up to date before this command; null where Redis keeps the queue',
    ).nullable(),
  })
  .meta({ title: 'affiliate-mirror migrate --json' });

export type MigrateDocument = z.infer<typeof migrateDocument>;
