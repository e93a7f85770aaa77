// The columns with personal data, and their kinds, as the contract declares the fields. docs/personal-data.md shows the
// same, with the reasons.

import type { PersonalKind } from '../../contract/declare.ts';
import { columnsOf, RECORDS } from '../../contract/records.ts';
import { byTable, type MirroredTable } from '../../decode/mirrored-tables.ts';

export const PERSONAL_COLUMNS = byTable(
  (table): Readonly<Record<string, PersonalKind>> =>
    Object.fromEntries(
      columnsOf(RECORDS[table].fields).flatMap(([column, { about }]) =>
        about === 'none' ? [] : [[column, about]],
      ),
    ),
);

/** A row is about a person if one of these columns is the person's. */
export const IDENTITY_COLUMNS = {
  affiliates: columnsAbout('affiliates', 'identity'),
  referrals: columnsAbout('referrals', 'identity'),
} as const;

function columnsAbout(table: MirroredTable, kind: PersonalKind): readonly string[] {
  return Object.keys(PERSONAL_COLUMNS[table]).filter((column) => PERSONAL_COLUMNS[table][column] === kind);
}
