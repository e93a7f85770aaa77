// A pay with even_if_refunded and the same pay without it are two requests, so that one that a refund held back can be
// asked for with it. They are one payment all the same: where one of them waits or succeeded, the other asks for
// nothing.

import type { UpdateState } from '../../contract/payment-request.ts';
import type { Database } from '../../db/database.ts';
import { GOOD_STATES, type UpdateRequest } from '../update-request.ts';
import { contentKey } from './content-key.ts';
import { findRequested } from './request-updates.ts';

/** A row whose key was made of what it asks for, unless it has one of its own or none. */
interface KeyedRow {
  readonly request: UpdateRequest;
  readonly hasOwnKey: boolean;
}

const WAITS_OR_SUCCEEDED: readonly (UpdateState | undefined)[] = ['pending', ...GOOD_STATES];

/**
 * Returns the rows, each pay as it was asked for before where an earlier request waits or succeeded that differs in
 * nothing but even_if_refunded: so asking for it finds that one.
 */
export async function takeEarlierPayments<Row extends KeyedRow>(
  db: Database,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const others = new Map(
    rows.flatMap((row) => {
      const { request, hasOwnKey } = row;
      if (request.action !== 'pay' || hasOwnKey || request.idempotency_key === null) return [];
      const other = { ...request, even_if_refunded: !request.even_if_refunded };
      return [[row, { ...other, idempotency_key: contentKey(other) }] as const];
    }),
  );
  if (others.size === 0) return rows;
  const requests = [...others].flatMap(([row, other]) => [row.request, other]);
  const before = await findRequested(db, requests);
  const isAsked = ({ idempotency_key }: UpdateRequest) =>
    WAITS_OR_SUCCEEDED.includes(before.get(idempotency_key ?? '')?.state);
  return rows.map((row) => {
    const other = others.get(row);
    return other === undefined || isAsked(row.request) || !isAsked(other) ? row : { ...row, request: other };
  });
}
