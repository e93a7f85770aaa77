// Text that a spreadsheet would run: in CSV nothing tells text from a formula, so a cell such as =HYPERLINK(…) that
// came from an affiliate's name would be one. It is written with an apostrophe before it, and read without it.
// Source: https://owasp.org/www-community/attacks/CSV_Injection (read 2026-11).

const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?[\d.,]+$/;

/** Returns the text as a CSV cell that no spreadsheet runs; a number stays one. */
export function withApostrophe(text: string): string {
  return isFormula(text) || isGuarded(text) ? `'${text}` : text;
}

/** Returns the text that `withApostrophe` was given. */
export function withoutApostrophe(cell: string): string {
  return isGuarded(cell) ? cell.slice(1) : cell;
}

function isFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMBER.test(text);
}

// One or more apostrophes before a formula: another one is added and taken away, so that each text has a cell.
function isGuarded(text: string): boolean {
  return text.startsWith("'") && isFormula(text.replace(/^'+/, ''));
}
