// Asks the program whether it serves the mirror's account, and whether it answers at all.

import type { ApiClient } from '../api/client.ts';
import type { Database } from '../db/database.ts';
import { probeAccount } from '../mirror/account.ts';
import { isFailureOfProgram } from '../queue/failure.ts';

/**
 * Throws: ApiUnauthorized; ProgramChanged; another error of the client where it answers for no list: one may fail
 * alone, and then the others are still read.
 */
export async function probeProgram(
  { api, db }: { readonly api: ApiClient; readonly db: Database },
  signal: AbortSignal,
): Promise<void> {
  try {
    await probeAccount({ api, db }, { signal });
  } catch (error) {
    if (!isFailureOfProgram(error)) throw error;
    await api.list('referrals', { page: 1, limit: 1 }, { signal });
  }
}
