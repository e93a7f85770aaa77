// What `apply --result` writes beside the user's own columns, which hands the file back as a payout file or as books.

import { AMOUNT_UNITS } from '../../config/amount-unit.ts';

/** The result_state of a row that `apply --skip-invalid` or --only left out: nothing was asked for. */
export const LEFT_OUT = 'left_out';

/** The amounts in the currency's own unit. In a workbook 84.00 is 84 there, and no 84 cents. */
export const RESULT_AMOUNT = 'result_amount';

const RESULT_COLUMN = new RegExp(
  `^result_(state|outcome|paid_at|amount(_(${AMOUNT_UNITS.join('|')}))?|currency)$`,
  'i',
);

/** Returns whether the column is one of these. */
export function isResultColumn(name: string): boolean {
  return RESULT_COLUMN.test(name);
}
