// How text is written into a workbook.

/**
 * Returns the text as hucre is to write it: 1.0.0 writes the two characters that XML does not allow, and text that
 * looks like its own escapes, as they are.
 */
export function spellForXml(text: string): string {
  return text.replace(/[\ufffe\uffff]/g, '\ufffd').replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_');
}
