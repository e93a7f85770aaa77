// Asks the program whether it serves the mirror's account, and whether it answers at all.

import type { ApiClient } from '../api/client.ts';
import { LISTED_RESOURCES } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import { ApiRejected } from '../errors.ts';
import { probeAccount } from '../mirror/account.ts';
import { isFailureOfProgram } from '../queue/failure.ts';

/**
 * One list may fail alone, and then the others are still read: the program is away where none of them is answered.
 *
 * Throws: ApiUnauthorized; ProgramChanged; another error of the client where the program is away.
 */
export async function probeProgram(
  { api, db }: { readonly api: ApiClient; readonly db: Database },
  signal: AbortSignal,
): Promise<void> {
  let failure: unknown;
  for (const resource of LISTED_RESOURCES) {
    try {
      if (resource === 'affiliates') await probeAccount({ api, db }, { signal });
      else await api.list(resource, { page: 1, limit: 1 }, { signal });
      return;
    } catch (error) {
      // That it does not have a list is an answer.
      if (error instanceof ApiRejected && error.isOfProgram && resource !== 'affiliates') return;
      if (!isFailureOfProgram(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}
