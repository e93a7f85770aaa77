// Keeps spreadsheets from running text: in CSV text does not differ from a formula, so a cell such as =HYPERLINK(…)
// that came from an affiliate's name would be one. It is written with an apostrophe before it, and read without it. So
// is text that would be a cell of its own if the file is opened with another delimiter, as a German Excel opens one
// with commas: quotes keep no cell together there.
// Source: https://owasp.org/www-community/attacks/CSV_Injection (read 2026-11).

const FORMULA = /^[=+\-@\t\r\n]/;
const NUMBER = /^[+-]?[\d.,]+$/;
/** A delimiter or the end of a line, and a formula right behind it, which may have apostrophes already. */
const FORMULA_WITHIN = /(?<=[;,\t\r\n])(?='*[=+\-@])/g;
const GUARDED_WITHIN = /(?<=[;,\t\r\n])'(?='*[=+\-@])/g;

/** Returns the text as a CSV cell that no spreadsheet runs; a number stays one. */
export function withApostrophe(text: string): string {
  const cell = text.replace(FORMULA_WITHIN, "'");
  return isFormula(text) || isGuarded(text) ? `'${cell}` : cell;
}

/** Returns the text that `withApostrophe` was given. */
export function withoutApostrophe(cell: string): string {
  return (isGuarded(cell) ? cell.slice(1) : cell).replace(GUARDED_WITHIN, '');
}

function isFormula(text: string): boolean {
  return FORMULA.test(text) && !NUMBER.test(text);
}

// One or more apostrophes before a formula: another one is added and taken away, so that each text has a cell.
function isGuarded(text: string): boolean {
  return text.startsWith("'") && isFormula(text.replace(/^'+/, ''));
}
