// A number that a JavaScript number would change, kept as the text that was sent: JSON.stringify writes it out again
// digit by digit, and Postgres' numeric stores it exactly.

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

/** Returns the number, kept as its text. Throws: SyntaxError on a text that is not JSON. */
export function makeExactNumber(text: string): ExactNumber {
  return JSON.rawJSON(text);
}

/** Returns whether the value is such a number. To JavaScript it is an object, and a schema may accept it as one. */
export function isExactNumber(value: unknown): value is ExactNumber {
  // Called with every object on a page, isRawJSON alone would take a tenth of the time of reading it.
  return typeof value === 'object' && value !== null && 'rawJSON' in value && JSON.isRawJSON(value);
}
