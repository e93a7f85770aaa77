// What the whole numbers count in which a program sends amounts.

/**
 * `minor`: the currency's own minor unit (USD and EUR 2 digits, JPY 0, KWD 3). `cent`: hundredths, whatever the
 * currency. `major`: the currency's own unit.
 */
export const AMOUNT_UNITS = ['minor', 'cent', 'major'] as const;

export type AmountUnit = (typeof AMOUNT_UNITS)[number];
