// The text and the amounts of a workbook's cells, and their limits.

import { spellDecimal } from '../../contract/money.ts';

/** Excel's limit for the text of a cell. */
export const LONGEST_TEXT = 32_767;
/** Excel keeps 15 digits of a number, and replaces the rest by zeros: a larger number is written as text. */
export const LARGEST_NUMBER = 999_999_999_999_999;

/**
 * Returns the text for hucre, whose version 1.0.0 escapes neither the two characters that XML does not allow, nor text
 * that looks like its own escapes.
 */
export function spellForXml(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_');
}

/**
 * Returns the amount, which has so many digits after the point, in the currency's own unit: a number, or text beyond
 * the numbers that Excel keeps.
 */
export function cellOfAmount(amount: number | bigint, digits: number): number | string {
  const text = spellDecimal(amount, digits);
  return amount > LARGEST_NUMBER || amount < -LARGEST_NUMBER ? text : Number(text);
}
