// Checks the JSON of a success: a list's envelope, one commission, or one payout.

import type { z } from 'zod';
import { type ListEnvelope, listEnvelopeSchema, wholeList } from '../contract/answer-bodies.ts';
import { type Commission, payableCommissionSchema } from '../contract/commission.ts';
import { type Payout, payablePayoutSchema } from '../contract/payout.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import type { RejectAnswer } from './answer.ts';

/**
 * Reads a page: its envelope with its records in the contract's spelling, otherwise unchecked, because one invalid
 * record must not cost the others. If the list may be bare, an array is the whole list.
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
 * Reads one commission, by its identifier in lower case. Its own fields and its sale's are checked, those of the
 * referral and the affiliate are not.
 *
 * Throws: ContractViolation, also on the commission of another id: money must not be booked on the wrong one.
 */
export function commissionReader(id: string): RecordReader<Commission> {
  return recordReader('commission', payableCommissionSchema, id);
}

/** The same of a payout: its own fields and those of its commissions are checked. */
export function payoutReader(id: string): RecordReader<Payout> {
  return recordReader('payout', payablePayoutSchema, id);
}

type RecordReader<T> = (json: unknown, reject: RejectAnswer) => T;

function recordReader<T extends { readonly id: string }>(
  kind: string,
  schema: z.ZodType<T>,
  id: string,
): RecordReader<T> {
  return (json, reject) => {
    const read = schema.safeParse(toContractSpelling(json));
    if (!read.success) throw reject(`a ${kind} (${describeIssue(read.error)})`);
    if (read.data.id !== id) throw reject(`the ${kind} ${id}`);
    return read.data;
  };
}

function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return error.message;
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
