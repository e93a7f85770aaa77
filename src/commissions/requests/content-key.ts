// The idempotency key of a request that was given none. Pure.

import { createHash } from 'node:crypto';
import type { UpdateRequest } from '../update-request.ts';

/** Returns a key made of what the request asks for (in SQL: is_same_request), whatever its reason. */
export function contentKey(request: UpdateRequest): string {
  const content = [
    request.commission_id,
    request.action,
    request.paid_at,
    request.due_at,
    request.expected_unpaid,
    request.expected_paid_at,
    request.expected_amount,
    request.expected_currency,
    request.supersede,
    request.even_if_refunded,
  ];
  return `row:${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 40)}`;
}
