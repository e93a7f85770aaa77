// Keeps what took long to read, so that people who look cost the mirror next to nothing: reading a million rows anew
// for each of them would slow down the sync. Whoever shows it says as of when it is.

import type { RawBuilder } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Reader, runShown, type Shown, sayQuery } from './shown-query.ts';

export interface Kept<Row> extends Shown<Row> {
  /** When reading began, by this machine's clock, as ISO 8601. */
  readonly asOf: string;
}

interface Reading {
  readonly result: Promise<unknown>;
  /** In milliseconds of performance.now(), which no wrong clock moves; infinite while it is being read. */
  keptUntil: number;
}

/** So a reading takes half a percent of the time at most, however many people look. */
const KEPT_TIMES_AS_LONG = 200;
/** Whatever is read more quickly than this is read anew each time. */
const QUICK_MS = 50;
/** Of one database: searches are not kept, so there are few. The oldest goes. */
const MOST_KEPT = 50;

const readings = new WeakMap<Database, Map<string, Reading>>();

/**
 * Returns the rows, and the query that gave them: as they were read a moment ago where reading them takes long, and
 * while somebody else is reading the same, the same result.
 *
 * Throws: the database's errors. A failed reading is not kept.
 */
export function keepReading<Row>(reader: Reader, query: RawBuilder<Row>): Promise<Kept<Row>> {
  return keepResult(reader.db, sayQuery(reader.db, query), async () => {
    const asOf = new Date().toISOString();
    return { ...(await runShown(reader, query)), asOf };
  });
}

/**
 * Returns what `read` returned, as long ago as keepReading keeps rows: for what takes more than one query. The key
 * names what is read, once in a database.
 *
 * Throws: what `read` throws. A failed reading is not kept.
 */
export async function keepResult<Result>(
  db: Database,
  key: string,
  read: () => Promise<Result>,
): Promise<Result> {
  const kept = readings.get(db) ?? new Map<string, Reading>();
  readings.set(db, kept);
  const before = kept.get(key);
  if (before !== undefined && performance.now() < before.keptUntil) return (await before.result) as Result;
  const begun = performance.now();
  const result = read();
  const reading: Reading = { result, keptUntil: Number.POSITIVE_INFINITY };
  kept.delete(key);
  kept.set(key, reading);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  try {
    const given = await result;
    const ended = performance.now();
    const tookMs = ended - begun;
    reading.keptUntil = ended + (tookMs < QUICK_MS ? 0 : tookMs * KEPT_TIMES_AS_LONG);
    return given;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}
