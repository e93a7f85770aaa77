// Dates that Excel may have read with day and month in each other's place. Where it opens a CSV of another country, it
// makes 09/10/2026 a date, 10 September, and leaves 13/10/2026 as text, since there is no month 13. Nobody can see that
// in the dates themselves, and no locale settles it: that says how the text is spelled, not how Excel read the rest.
// Pure.

import { quote } from '../timestamps.ts';
import type { Problem } from './raw-table.ts';
import type { TableLine } from './table-file.ts';

const WITH_SLASHES = /^\d{1,2}\/\d{1,2}\/\d/;

/** Returns a problem of each date of a column that also has text with slashes, unless it is one day either way. */
export function findMixedDates(lines: readonly TableLine[], columns: readonly string[]): Problem[] {
  return columns.flatMap((column) => {
    const isLeftAsText = ({ cells }: TableLine) => WITH_SLASHES.test(cells.get(column) ?? '');
    const text = lines.find(isLeftAsText);
    if (text === undefined) return [];
    return lines.flatMap(({ line, cells, dates }) => {
      const shown = cells.get(column) ?? '';
      const swapped = swapDay(shown);
      if (!dates.has(column) || swapped === null) return [];
      const words = `${column} is a date, ${shown}, and that of line ${text.line} is text, ${quote(text.cells.get(column) ?? '')}`;
      const problem = `${words}: Excel may have taken ${swapped} for it; hand in the CSV that this was made of, or make them all dates, or all text`;
      return [{ line, problem }];
    });
  });
}

/** Returns the date with day and month in each other's place; null where it then is none, or the same one. */
function swapDay(text: string): string | null {
  const [, year, month, day, time = ''] = /^(\d{4})-(\d{2})-(\d{2})(T.*)?$/.exec(text) ?? [];
  return day === undefined || day === month || Number(day) > 12 ? null : `${year}-${day}-${month}${time}`;
}
