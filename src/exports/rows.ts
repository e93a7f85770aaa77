// Reads the rows of a statement in batches, as Postgres' own texts: so a number keeps its digits, and a time its
// microseconds.
//
// Decision: a cursor for every format, not COPY for some. COPY writes times that are not ISO 8601, and needs a parser
// if the rows go to several files; a cursor takes twice its CPU time, and is one way for all.

import { DatabaseError, type PoolClient, type QueryArrayConfig } from 'pg';
import { errorCode } from '../base/describe-error.ts';
import { ConfigError } from '../base/errors.ts';

/** Null is SQL's own. */
export type Row = readonly (string | null)[];
export type Rows = AsyncIterable<readonly Row[]>;

/** Rows: a few hundred kilobytes. */
const BATCH = 1000;
const CURSOR = 'exported';

const asText = { getTypeParser: () => (text: string) => text };

/**
 * Returns the rows in batches. `where` is the user's part of the statement; null if there is none.
 *
 * Throws: ConfigError if the user's part is refused; the database's errors.
 */
export async function* readRows(
  client: PoolClient,
  statement: string,
  { where }: { where: string | null },
): AsyncGenerator<readonly Row[]> {
  const query = async (text: string): Promise<readonly Row[]> => {
    try {
      // Prepared, so that the user's part cannot add a second statement.
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

/** SQLSTATE classes of a wrong statement: its text, a missing feature, a write in it. */
const WRONG_STATEMENT = /^(42(?!501)|0A|2F|25|54|P0)/;
/** Of a value that cannot be read or computed. Postgres' message quotes the value, which may be personal. */
const WRONG_VALUE = /^2[12]/;

function explainRefusal(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const code = errorCode(error);
  // If a quote is not closed, the message quotes the rest of our statement as well.
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

interface DayRows {
  readonly day: string;
  /** To be read to the end before the next day is requested. */
  readonly rows: Rows;
}

/** Splits rows that are ordered by their day, the last value of each. */
export async function* splitByDay(all: Rows): AsyncGenerator<DayRows> {
  const source = all[Symbol.asyncIterator]();
  let left: readonly Row[] = [];
  const findMore = async (): Promise<boolean> => {
    if (left.length > 0) return true;
    const next = await source.next();
    left = next.done === true ? [] : next.value;
    return left.length > 0;
  };
  async function* ofDay(day: string): AsyncGenerator<readonly Row[]> {
    while ((await findMore()) && dayOf(left[0]) === day) {
      const end = left.findIndex((row) => dayOf(row) !== day);
      const rows = end === -1 ? left : left.slice(0, end);
      left = left.slice(rows.length);
      yield rows;
    }
  }
  while (await findMore()) {
    const day = dayOf(left[0]);
    yield { day, rows: ofDay(day) };
  }
}

function dayOf(row: Row | undefined): string {
  return row?.at(-1) ?? '';
}
