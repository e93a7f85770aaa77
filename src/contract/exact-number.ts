// A number that JavaScript's own would change, kept as the text that was sent: JSON.stringify writes it out again
// digit by digit, and Postgres' numeric holds it whole.

declare global {
  // In V8 since 2023, not yet in TypeScript's library.
  interface JSON {
    rawJSON(text: string): ExactNumber;
    isRawJSON(value: unknown): value is ExactNumber;
  }
}

export interface ExactNumber {
  readonly rawJSON: string;
}

/** Returns the number that is kept as its text. Throws: SyntaxError on a text that is no JSON. */
export function makeExactNumber(text: string): ExactNumber {
  return JSON.rawJSON(text);
}

/** Returns whether the value is such a number. To JavaScript it is an object, and a schema may take it for one. */
export function isExactNumber(value: unknown): value is ExactNumber {
  // Asked of every object on a page, isRawJSON alone would cost a tenth of reading it.
  return typeof value === 'object' && value !== null && 'rawJSON' in value && JSON.isRawJSON(value);
}
