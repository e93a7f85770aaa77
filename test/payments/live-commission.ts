// A commission as the program answers it, for what is judged without a program.

import type { Commission } from '../../src/contract/commission.ts';

export const ID = '0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11';
export const AT = '2026-10-01T12:00:00Z';

/** Returns an unpaid one that is due, with other fields where they are given. */
export function live(fields: Partial<Commission> = {}): Commission {
  return {
    id: ID,
    created_at: AT,
    updated_at: AT,
    amount: 100,
    currency: 'usd',
    paid_at: null,
    due_at: AT,
    ...fields,
  };
}
