import type { Pool } from '../../src/db/connect/shared-pool.ts';

// Draws the views of the reports and how they join, from what the catalogue says of them: their comments declare keys
// and references.

interface Column {
  readonly view: string;
  readonly name: string;
  /** `affiliates.id`; null where the column refers to nothing. */
  readonly refers_to: string | null;
}

/**
 * Returns a Mermaid entity diagram of the schema: every join, with the column that refers. Keys are in the comments.
 */
export async function drawEntities(pool: Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<Column>(
    `select relname as view, attname as name,
            substring(words from 'Refers to (\\w+\\.\\w+)\\.') as refers_to
     from pg_class
     join pg_attribute on attrelid = pg_class.oid and attnum > 0
     cross join lateral (select col_description(attrelid, attnum) as words) described
     where relnamespace = $1::regnamespace and relkind = 'v'
     order by relname, attnum`,
    [schema],
  );
  // None or one on the side that is referred to: the program may send one half of a pair before the other.
  const joins = rows.flatMap(({ view, name, refers_to }) =>
    refers_to === null ? [] : [`  ${refers_to.split('.')[0]} |o--o{ ${view} : ${name}`],
  );
  return `${['erDiagram', ...joins].join('\n')}\n`;
}
