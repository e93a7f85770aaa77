// A handle of Kysely's as what pg's clients are: for statements that are also asked over a pool.

import { CompiledQuery } from 'kysely';
import type { Database } from './database.ts';

export function asClient(db: Database) {
  return {
    query: <Row>(text: string, values: unknown[] = []) =>
      db.executeQuery<Row>(CompiledQuery.raw(text, values)),
  };
}
