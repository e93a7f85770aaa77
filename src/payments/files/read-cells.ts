// Reads the cells that a payout file and the books have in common. Pure. The problem of a cell is added to `problems`,
// to be read after the number of its line.

import { identifier } from '../../contract/fields.ts';
import { ACTIONS, type Action } from '../../contract/payment-request.ts';
import { quote, readTimestamp } from '../timestamps.ts';
import type { DateSpelling } from './spelling.ts';

/** Returns the identifier in lower case; null, with a problem, if it is none. */
export function readCommissionId(text: string | undefined, problems: string[]): string | null {
  if (text === undefined) {
    problems.push('commission_id is blank');
    return null;
  }
  if (identifier.safeParse(text).success) return text.toLowerCase();
  problems.push(`commission_id ${quote(text)} is not a UUID`);
  return null;
}

/** Returns the action that the cell names; undefined if it names none. */
export function findAction(text: string | undefined): Action | undefined {
  return ACTIONS.find((known) => known === text?.toLowerCase());
}

/** Returns the timestamp in UTC; null if the cell is blank, or, with a problem, if it holds none. */
export function readTimestampCell(
  name: string,
  text: string | undefined,
  spelling: DateSpelling,
  problems: string[],
  alternative = '',
): string | null {
  if (text === undefined) return null;
  const read = readTimestamp(text, spelling);
  if ('timestamp' in read) return read.timestamp;
  problems.push(`${name} ${read.problem}${alternative}`);
  return null;
}

/**
 * Returns the code in upper case; null if the cell is blank, or, with a problem, if it holds none.
 *
 * An affiliate program may use any name (USDT, points), and the output of `commissions payable` is to be read again. A
 * name that it does not have is a difference later, and no payment.
 */
export function readCurrency(name: string, text: string | undefined, problems: string[]): string | null {
  if (text === undefined) return null;
  if (/\p{L}/u.test(text) && !/\p{Sc}/u.test(text)) return text.toUpperCase();
  problems.push(`${name} ${quote(text)} is not a currency code such as EUR`);
  return null;
}

/** As users, and spreadsheets in English and in German, write it. */
const YES = ['true', 'yes', 'ja', 'wahr'];
const NO = ['false', 'no', 'nein', 'falsch'];

/** Returns whether the cell says yes; false if it is blank, or, with a problem, if it says neither. */
export function readFlag(name: string, text: string | undefined, problems: string[]): boolean {
  const word = text?.toLowerCase() ?? 'false';
  if (YES.includes(word)) return true;
  if (!NO.includes(word)) {
    problems.push(`${name} ${quote(text ?? '')} is neither true nor false (yes and no will do as well)`);
  }
  return false;
}
