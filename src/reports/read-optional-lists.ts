// Which of the optional lists the program has, as it was last found out.

import { sql } from 'kysely';
import { z } from 'zod';
import { OPTIONAL_LISTS } from '../config/optional-lists.ts';
import { text, timestamp, yesNo } from './fields.ts';
import { columnsOf, figure, mirrorTable } from './figure.ts';

export const optionalList = z.object({
  resource: z.enum(OPTIONAL_LISTS),
  setting: text('OPTIONAL_LISTS, as last configured of it: auto, on or off'),
  is_served: yesNo('the program has the list; null: it never said').nullable(),
  is_used: yesNo('the resource is mirrored by its list'),
  found_at: timestamp('when the program said so').nullable(),
  asked_at: timestamp('when it was last asked').nullable(),
  problem: text('why the last question decided nothing').nullable(),
});

export type OptionalListStatus = z.infer<typeof optionalList>;

/** A row for each list. */
export const readOptionalLists = figure(
  (reader) => sql<OptionalListStatus>`
      select ${columnsOf(optionalList)}
      from ${mirrorTable(reader, 'optional_lists')}
      order by resource`,
);
