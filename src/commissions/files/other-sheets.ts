// The sheets of a workbook that are not read. Somebody may have put payments there, which would not be made.

import { isBlank } from './workbook-cells.ts';

/** A sheet by its place in the workbook, from 0. */
export interface SheetPlace {
  readonly index: number;
  readonly name: string;
}

export interface OtherSheet {
  readonly name: string;
  /** Whether it has rows below a header that names commissions. */
  readonly hasCommissions: boolean;
}

/** Enough for a header and a row below it. */
const FIRST_ROWS = 1000;

/** Returns the sheets among them that are not empty. `find` tells which column a name in a header is. */
export async function readOtherSheets(
  bytes: Uint8Array,
  places: readonly SheetPlace[],
  find: (name: string) => string | null,
): Promise<OtherSheet[]> {
  const { readXlsx } = await import('hucre/xlsx');
  const others: OtherSheet[] = [];
  for (const { index, name } of places) {
    // A chart that has a sheet to itself cannot be read, and has no rows.
    const workbook = await readXlsx(bytes, { sheets: [index], maxRows: FIRST_ROWS }).catch(() => null);
    const sheet = workbook?.sheets[0];
    const [header, row] = sheet === undefined ? [] : sheet.rows.filter((values) => !values.every(isBlank));
    if (header === undefined) continue;
    const names = header.map((value) => (typeof value === 'string' ? find(value) : null));
    others.push({ name, hasCommissions: names.includes('commission_id') && row !== undefined });
  }
  return others;
}
