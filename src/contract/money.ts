// Money: whole numbers of a unit, and how they are spelled in the currency's own unit.
//
// Minor units, such as cents, are assumed: the contract names no unit. For an affiliate program that counts otherwise,
// AFFILIATE_AMOUNT_UNIT names it. The configuration has the format (config.money). Source: contract, Commission;
// Commission stats.
//
// A number holds every amount that the contract allows. A sum is a bigint, because two of the largest amounts exceed a
// number.

import { formatCount } from './format.ts';

/**
 * The unit of the API's amounts. `minor`: the currency's own minor unit (USD and EUR 2
 * digits, JPY 0, KWD 3). `cent`: hundredths in every currency. `major`: the currency's own unit.
 */
export const AMOUNT_UNITS = ['minor', 'cent', 'major'] as const;

export type AmountUnit = (typeof AMOUNT_UNITS)[number];

export interface MoneyFormat {
  readonly unit: AmountUnit;
  /** Returns how many of an amount's digits come after the point: 8395 of USD has 2. 0 if not known. */
  digitsOf(currency: string): number;
  /**
   * Returns an amount in the currency's own unit: 8395 minor units of USD as `83.95 USD`, of JPY as `8,395 JPY`, of KWD
   * as `8.395 KWD`. Without a currency: the number as it is.
   */
  format(amount: number | bigint, currency: string | null): string;
}

function makeFormat(unit: AmountUnit): MoneyFormat {
  const digitsOf = (currency: string) => {
    if (unit === 'major' || currency === '') return 0;
    if (unit === 'cent') return 2;
    return isCode(currency) ? minorDigits(currency) : 0;
  };
  return {
    unit,
    digitsOf,
    format(amount, currency) {
      if (currency === null) return formatCount(amount);
      const { sign, whole, fraction } = split(amount, digitsOf(currency));
      return `${sign}${formatCount(BigInt(whole))}${fraction === '' ? '' : `.${fraction}`} ${currency}`;
    },
  };
}

/** Returns whether the code has the form of ISO 4217: USD, but neither USDT nor points. */
export function isCode(currency: string): boolean {
  return /^[a-z]{3}$/i.test(currency);
}

/**
 * Of the currencies with other than two digits. Source: ISO 4217, list one. Not Intl: its source, CLDR, has the digits
 * that people write (none for HUF, COP and IDR), and they change from one version of Node to the next.
 */
const MINOR_DIGITS: ReadonlyMap<number, string> = new Map([
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]);
const DIGITS_BY_CURRENCY: ReadonlyMap<string, number> = new Map(
  [...MINOR_DIGITS].flatMap(([digits, currencies]) =>
    currencies.split(' ').map((currency) => [currency, digits] as const),
  ),
);

function minorDigits(currency: string): number {
  return DIGITS_BY_CURRENCY.get(currency.toUpperCase()) ?? 2;
}

export function addAmounts(amounts: readonly number[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
}

/** Returns the amount with `digits` digits after the mark, ungrouped: 8395 with 2 as `83.95`. */
export function spellDecimal(amount: number | bigint, digits: number, mark = '.'): string {
  const { sign, whole, fraction } = split(amount, digits);
  return `${sign}${whole}${fraction === '' ? '' : `${mark}${fraction}`}`;
}

function split(amount: number | bigint, digits: number): { sign: string; whole: string; fraction: string } {
  // A number of 22 figures or more would be spelled with an exponent.
  const exact = BigInt(amount);
  const figures = String(exact < 0n ? -exact : exact).padStart(digits + 1, '0');
  return {
    sign: amount < 0 ? '-' : '',
    whole: figures.slice(0, figures.length - digits),
    fraction: digits === 0 ? '' : figures.slice(-digits),
  };
}

export const MONEY: Readonly<Record<AmountUnit, MoneyFormat>> = {
  minor: makeFormat('minor'),
  cent: makeFormat('cent'),
  major: makeFormat('major'),
};
