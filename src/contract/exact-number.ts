// A number that a JavaScript number would change, stored as its text: JSON.stringify writes it digit by digit, and
// Postgres' numeric stores it exactly.

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

/** Throws: SyntaxError on a text that is not JSON. */
export function makeExactNumber(text: string): ExactNumber {
  return JSON.rawJSON(text);
}

/** To JavaScript an exact number is an object, and a schema may accept it as one. */
export function isExactNumber(value: unknown): value is ExactNumber {
  // The checks before isRawJSON save a tenth of the time of reading a page.
  return typeof value === 'object' && value !== null && 'rawJSON' in value && JSON.isRawJSON(value);
}
