// Which columns hold personal data, and of which kind, as the contract declares the fields. docs/personal-data.md shows
// the same, with the reasons.

import type { PersonalKind } from '../contract/declare.ts';
import { columnsOf, RECORDS } from '../contract/records.ts';
import { byTable, type MirroredTable } from '../records/mirrored-tables.ts';

export const PERSONAL_COLUMNS = byTable(
  (table): Readonly<Record<string, PersonalKind>> =>
    Object.fromEntries(
      columnsOf(RECORDS[table].fields).flatMap(([column, { about }]) =>
        about === 'nobody' ? [] : [[column, about]],
      ),
    ),
);

/** Of these columns a whole row is about the person. */
export const IDENTITY_COLUMNS = {
  affiliates: columnsAbout('affiliates', 'identity'),
  referrals: columnsAbout('referrals', 'identity'),
} as const;

function columnsAbout(table: MirroredTable, kind: PersonalKind): readonly string[] {
  return Object.keys(PERSONAL_COLUMNS[table]).filter((column) => PERSONAL_COLUMNS[table][column] === kind);
}
