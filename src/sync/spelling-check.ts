// Stops a run before it writes anything where the program spells its identifiers in another case than the mirror does.

import type { ListedResource } from '../contract/resources.ts';
import type { Database } from '../db/database.ts';
import { compareSpelling, describeRespelled } from '../mirror/respelled-ids.ts';
import type { ReadPages } from '../records/read-page.ts';

/** The message is to be read after "unverified because". */
export class RespelledIds extends Error {}

export interface SpellingCheck {
  /**
   * To be called before pages are loaded. Asks the mirror about the first page; about further ones only while the
   * mirror knew no record of those before.
   *
   * Throws: RespelledIds.
   */
  check(pages: readonly ReadPages[]): Promise<void>;
}

/** Returns the check of one attempt of a run. */
export function makeSpellingCheck(db: Database, resource: ListedResource): SpellingCheck {
  let isSettled = false;
  return {
    async check(pages) {
      for (const page of pages) {
        if (isSettled) return;
        const spelling = await compareSpelling(db, resource, page);
        if (spelling.respelled !== null) {
          throw new RespelledIds(
            `${describeRespelled(spelling.respelled)}; every such record would become a second row, so nothing was ` +
              'written. Have the program spell them as before, or mirror it into a schema of its own (MIRROR_SCHEMA)',
          );
        }
        ({ isSettled } = spelling);
      }
    },
  };
}
