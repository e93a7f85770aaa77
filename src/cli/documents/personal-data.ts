// The documents of `personal-data switch --json` and `forget --json`.

import { z } from 'zod';
import { PERSONAL_DATA_MODES } from '../../config/personal-data.ts';
import { count, text, timestamp, yesNo } from '../../reports/fields.ts';

const mode = z.enum(PERSONAL_DATA_MODES);

const rewritten = z
  .array(z.object({ table: text('name of the table'), rows: count('how many of its rows were rewritten') }))
  .readonly()
  .describe('tables of which something was rewritten');

export const switchedDocument = z
  .object({
    from: mode.describe('how personal data were kept'),
    to: mode.describe('how they are kept now'),
    is_changed: z.boolean().describe('whether the mode or the key is another than before'),
    rewritten,
  })
  .meta({ title: 'affiliate-mirror personal-data switch --json' });

export type SwitchedDocument = z.infer<typeof switchedDocument>;

export const receiptDocument = z
  .object({
    number: count('number of the person in this mirror; the same where the command is run again'),
    is_found: yesNo('the mirror has or had something of the person; false where nobody has the address'),
    forgotten_at: timestamp('when the person was forgotten first'),
    done_at: timestamp('when this was done'),
    kept_out: z
      .object({
        affiliates: count('affiliates whose data are no longer stored'),
        referrals: count('referrals whose data are no longer stored'),
        links: count('links whose data are no longer stored'),
        addresses: count(
          'e-mail addresses, and identifiers of customers that were named, that are recognised, in each form in which they are',
        ),
      })
      .describe('what later syncs recognise and store without personal data'),
    rewritten,
    not_rewritten: z
      .array(
        z.object({
          table: text('name of the table'),
          column: text('name of the column'),
          rows: count('rows in which the address or the name still is'),
        }),
      )
      .readonly()
      .describe('who asked for a payment, and what keeps one from being made twice'),
  })
  .meta({ title: 'affiliate-mirror forget --json' });

export type ReceiptDocument = z.infer<typeof receiptDocument>;
