// Reads the rows of a statement, some at a time, as the texts that Postgres sends: a number keeps its digits so, and a
// time its microseconds.
//
// Decision: a cursor for every format, not COPY for some. COPY writes times that are not ISO 8601 and needs a parser as
// soon as the rows go to several files; a cursor takes twice its CPU time, and is one way for all.

import { DatabaseError, type PoolClient, type QueryArrayConfig } from 'pg';
import { errorCode } from '../describe-error.ts';
import { ConfigError } from '../errors.ts';

/** Null is SQL's own. */
export type Row = readonly (string | null)[];
export type Rows = AsyncIterable<readonly Row[]>;

/** Rows of a fetch: a few hundred kilobytes. */
const BATCH = 1000;
const CURSOR = 'exported';

/** So that a batch is what Postgres sent. */
const asText = { getTypeParser: () => (text: string) => text };

/**
 * Returns the rows in batches. `where` says whether the user wrote a part of the statement, who then hears what is
 * wrong with it.
 *
 * Throws: ConfigError where the user's part of it is refused; the database's errors.
 */
export async function* readRows(
  client: PoolClient,
  statement: string,
  { where }: { where: string | null },
): AsyncGenerator<readonly Row[]> {
  const query = async (text: string): Promise<readonly Row[]> => {
    try {
      // Prepared, so that it is one statement, whatever the user wrote.
      const config: QueryArrayConfig & { queryMode: 'extended' } = {
        text,
        rowMode: 'array',
        types: asText,
        queryMode: 'extended',
      };
      return (await client.query<string[]>(config)).rows;
    } catch (error) {
      throw where === null ? error : explainRefusal(error);
    }
  };
  await query(`declare ${CURSOR} no scroll cursor for ${statement}`);
  for (;;) {
    const rows = await query(`fetch ${BATCH} from ${CURSOR}`);
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) break;
  }
  await query(`close ${CURSOR}`);
}

/** SQLSTATE classes of what is wrong with a statement: its text, a feature that is not there, a write in it. */
const WRONG_STATEMENT = /^(42(?!501)|0A|2F|25|54|P0)/;
/** Of a value that cannot be read or computed. Postgres' message quotes it, and it may be personal. */
const WRONG_VALUE = /^2[12]/;

function explainRefusal(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const code = errorCode(error);
  // Where a quote is not closed, what follows in our statement is quoted as well.
  const [message] = error.message.split('\n');
  const problem = WRONG_STATEMENT.test(code)
    ? `--where is not accepted by the database: ${message}`
    : WRONG_VALUE.test(code)
      ? `--where meets a value that it cannot read or compute (SQLSTATE ${code}): check its casts and divisions`
      : null;
  if (problem === null) return error;
  const refusal = new ConfigError([problem]);
  refusal.cause = error;
  return refusal;
}
