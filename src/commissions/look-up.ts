// Reads one commission for whoever changes nothing: the dry run, the comparison with the books, the polls. A refusal is
// an answer here, by the rules that the writer has for it.

import type { ApiClient } from '../api/client.ts';
import type { Commission } from '../contract/commission.ts';
import type { Timestamp } from '../contract/timestamp.ts';
import { ApiRejected, ApiUnreachable } from '../errors.ts';
import { type Refusal, refusalOf } from './judge-update.ts';
import type { ProgramHealth } from './program-health.ts';

export type LookedUp =
  | { readonly commission: Commission; readonly refusal: null; readonly askedAt: Timestamp }
  | {
      readonly commission: null;
      readonly refusal: Refusal;
      /** The refusal without what the program says. */
      readonly reason: string;
      readonly askedAt: Timestamp;
    };

/**
 * Returns the commission, or how the program refuses it while it answers others: that takes one request more at most,
 * and two more where nothing is known of the program's health.
 *
 * Throws: ProgramChanged; ApiRejected where the program refuses everything (the address is wrong); the client's other
 * errors, also where the program turns out to be down; the signal's reason when aborted.
 */
export async function lookUp(
  { client, health }: { client: ApiClient; health: ProgramHealth },
  id: string,
  signal: AbortSignal,
): Promise<LookedUp> {
  for (;;) {
    const mark = health.mark();
    try {
      const { commission, askedAt } = await client.getCommission(id, { signal });
      health.noteAnswer(askedAt);
      await health.confirmAccount(commission, signal);
      return { commission, refusal: null, askedAt };
    } catch (error) {
      if (!(error instanceof ApiRejected) || signal.aborted) throw error;
      const meaning = await health.judgeRefusal({ mark, answeredAt: error.answeredAt }, signal);
      if (meaning === 'down') {
        throw new ApiUnreachable('the program is down: it does not list affiliates either', { cause: error });
      }
      if (meaning === 'believed')
        return {
          commission: null,
          refusal: refusalOf(error),
          reason: error.message,
          askedAt: error.askedAt,
        };
    }
  }
}
