// A program in which one record does not fit the contract, and never will.

import type { ApiClient } from '../../src/api/client.ts';
import { listParsed } from './list-parsed.ts';

/** Returns the client of a program that is the same but for one record, whose visits are a word. */
export function breakRecord(api: ApiClient, id: string): ApiClient {
  return {
    ...api,
    async list(resource, query, options) {
      const answer = await listParsed(api)(resource, query, options);
      const data = answer.data.map((record) =>
        (record as { id: string }).id === id ? { ...(record as object), visits: 'many' } : record,
      );
      return { ...answer, data };
    },
  };
}
