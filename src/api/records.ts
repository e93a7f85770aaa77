// Checks the JSON of a success: a list's envelope, or one commission.

import type { z } from 'zod';
import { type ListEnvelope, listEnvelopeSchema, wholeList } from '../contract/answer-bodies.ts';
import { type Commission, payableCommissionSchema } from '../contract/commission.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import type { RejectAnswer } from './answer.ts';

/**
 * Returns the function that reads a page: its envelope with its records in the contract's spelling, otherwise
 * unchecked, since one record that does not fit must not cost the others. An array that may be bare is the whole list.
 *
 * Throws: ContractViolation.
 */
export function listReader(mayBeBare: boolean, limit: number) {
  return (json: unknown, reject: RejectAnswer): ListEnvelope => {
    const page = mayBeBare && Array.isArray(json) ? wholeList(json, limit) : json;
    const envelope = listEnvelopeSchema.safeParse(page);
    if (!envelope.success) throw reject(`a list (${describeIssue(envelope.error)})`);
    return { ...envelope.data, data: envelope.data.data.map(toContractSpelling) };
  };
}

/**
 * Returns the function that reads the answer to a request for one commission, by its identifier in lower case. Its own
 * fields and its sale's are checked, those of the referral and the affiliate are not.
 *
 * Throws: ContractViolation, also on the commission of another id: money must not be booked on the wrong one.
 */
export function commissionReader(id: string): (json: unknown, reject: RejectAnswer) => Commission {
  return (json, reject) => {
    const commission = payableCommissionSchema.safeParse(toContractSpelling(json));
    if (!commission.success) throw reject(`a commission (${describeIssue(commission.error)})`);
    if (commission.data.id !== id) throw reject(`the commission ${id}`);
    return commission.data;
  };
}

function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return error.message;
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
