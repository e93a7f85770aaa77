// Splits rows that are ordered by their day, the last value of each, into those of one day after the other.

import type { Row, Rows } from './rows.ts';

export interface DayRows {
  readonly day: string;
  /** To be read to its end before the next day is asked for. */
  readonly rows: Rows;
}

/** Returns the days in their order. */
export async function* splitByDay(all: Rows): AsyncGenerator<DayRows> {
  const source = all[Symbol.asyncIterator]();
  let left: readonly Row[] = [];
  const findMore = async (): Promise<boolean> => {
    if (left.length > 0) return true;
    const next = await source.next();
    left = next.done === true ? [] : next.value;
    return left.length > 0;
  };
  async function* ofDay(day: string): AsyncGenerator<readonly Row[]> {
    while ((await findMore()) && dayOf(left[0]) === day) {
      const end = left.findIndex((row) => dayOf(row) !== day);
      const rows = end === -1 ? left : left.slice(0, end);
      left = left.slice(rows.length);
      yield rows;
    }
  }
  while (await findMore()) {
    const day = dayOf(left[0]);
    yield { day, rows: ofDay(day) };
  }
}

function dayOf(row: Row | undefined): string {
  return row?.at(-1) ?? '';
}
