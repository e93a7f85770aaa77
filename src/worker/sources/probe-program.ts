// Asks the API whether it serves the mirror's account, and whether it answers at all.

import type { ApiClient } from '../../api/client.ts';
import { ApiRejected } from '../../base/errors.ts';
import { LISTED_RESOURCES } from '../../contract/resources.ts';
import type { Database } from '../../db/database.ts';
import { probeAccount } from '../../mirror/account.ts';
import { isFailureOfProgram } from '../queue/failure.ts';

/**
 * The API counts as away if it answers none of its lists: if one fails, the others are still read.
 *
 * Throws: ApiUnauthorized; ProgramChanged; another error of the client if the API is away.
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
      // A refusal of an optional list is an answer.
      if (error instanceof ApiRejected && error.isOfProgram && resource !== 'affiliates') return;
      if (!isFailureOfProgram(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}
