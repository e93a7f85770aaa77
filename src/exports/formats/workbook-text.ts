// How text is written into a workbook, and what its cells hold at most.

/** Excel's own limit for the text of a cell. */
export const LONGEST_TEXT = 32_767;
/** Excel keeps 15 digits of a number, and puts zeros in place of the rest: a larger one is written as text. */
export const LARGEST_NUMBER = 999_999_999_999_999;

/**
 * Returns the text as hucre is to write it: 1.0.0 writes the two characters that XML does not allow, and text that
 * looks like its own escapes, as they are.
 */
export function spellForXml(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_');
}
