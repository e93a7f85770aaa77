// Money: whole numbers of a unit, and how they are spelled in the currency's own unit.
//
// That they are minor units, such as cents, is assumed: the contract shows no unit, so a program may count otherwise,
// and AFFILIATE_AMOUNT_UNIT says how. Source: contract, Commission; Commission stats.
//
// An amount is a number, which holds each that the contract allows. A sum of them is a bigint, since two of the largest
// are more than a number holds.

import type { AmountUnit } from '../config/amount-unit.ts';
import { formatCount } from './format.ts';

/** Returns how many of an amount's last digits come after the point: 8395 of USD has 2. 0 where nothing says it. */
export function fractionDigits(currency: string, unit: AmountUnit): number {
  if (unit === 'major' || currency === '') return 0;
  if (unit === 'cent') return 2;
  return isCode(currency) ? minorDigits(currency) : 0;
}

/** Returns whether the currency has a code as those of ISO 4217 are: USD, and neither USDT nor points. */
export function isCode(currency: string): boolean {
  return /^[a-z]{3}$/i.test(currency);
}

/**
 * Of the currencies that have not two. Source: ISO 4217, list one. Intl is not asked: CLDR, from which that has them,
 * counts what people write (none for HUF, COP and IDR), and that changes from one version of Node to the next.
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

/** Returns the amounts together. */
export function addAmounts(amounts: readonly number[]): bigint {
  return amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
}

/** Returns the amount with `digits` digits after the mark, ungrouped: 8395 with 2 as `83.95`. */
export function spellDecimal(amount: number, digits: number, mark = '.'): string {
  const { sign, whole, fraction } = split(amount, digits);
  return `${sign}${whole}${fraction === '' ? '' : `${mark}${fraction}`}`;
}

/**
 * Returns an amount in the currency's own unit: 8395 minor units of USD as `83.95 USD`, of JPY as `8,395 JPY`, of KWD
 * as `8.395 KWD`. One without a currency stays as it is.
 */
export function formatMoney(
  amount: number | bigint,
  currency: string | null,
  unit: AmountUnit = 'minor',
): string {
  if (currency === null) return formatCount(amount);
  const { sign, whole, fraction } = split(amount, fractionDigits(currency, unit));
  return `${sign}${formatCount(BigInt(whole))}${fraction === '' ? '' : `.${fraction}`} ${currency}`;
}

function split(amount: number | bigint, digits: number): { sign: string; whole: string; fraction: string } {
  // As a number, one of 22 figures or more would be spelled with an exponent.
  const exact = BigInt(amount);
  const figures = String(exact < 0n ? -exact : exact).padStart(digits + 1, '0');
  return {
    sign: amount < 0 ? '-' : '',
    whole: figures.slice(0, figures.length - digits),
    fraction: digits === 0 ? '' : figures.slice(-digits),
  };
}
