// What the JSON of a success must be: a list's envelope, or one commission. Pure; knows schemas, no HTTP.

import type { z } from 'zod';
import { type Commission, commissionSchema } from '../contract/commission.ts';
import { type ListEnvelope, listEnvelopeSchema } from '../contract/list-envelope.ts';
import { toContractSpelling } from '../contract/wire-aliases.ts';
import type { AnswerReader } from './answer.ts';
import { parseJson } from './body-bytes.ts';
import { makeParsePage } from './parse-page.ts';

/**
 * Gives back the reader of the pages of a list, records in the contract's spelling and otherwise unchecked: one that
 * does not fit must not cost the others. What repeats from page to page is the same object, and not to be changed.
 */
export function makeListReader(): AnswerReader<ListEnvelope> {
  return {
    parse: makeParsePage(),
    read(json, reject) {
      const envelope = listEnvelopeSchema.safeParse(json);
      if (!envelope.success) throw reject(`a list (${describeIssue(envelope.error)})`);
      return envelope.data;
    },
  };
}

/**
 * Gives back the reader of the answer to a request for one commission. It rejects the commission of another id as well:
 * money must not be booked on the wrong one.
 */
export function commissionReader(id: string): AnswerReader<Commission> {
  return {
    parse: parseJson,
    read(json, reject) {
      const commission = commissionSchema.safeParse(toContractSpelling(json));
      if (!commission.success) throw reject(`a commission (${describeIssue(commission.error)})`);
      if (commission.data.id.toLowerCase() !== id.toLowerCase()) throw reject(`the commission ${id}`);
      return commission.data;
    },
  };
}

function describeIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return error.message;
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`;
}
