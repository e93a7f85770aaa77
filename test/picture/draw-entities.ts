// Draws the views of the reports and how they join, from what the catalogue says of them: their comments declare keys
// and references.

import type { Pool } from 'pg';

interface Column {
  readonly view: string;
  readonly name: string;
  readonly type: string;
  readonly is_key: boolean;
  /** `affiliates.id`; null where the column refers to nothing. */
  readonly refers_to: string | null;
}

/**
 * Returns a Mermaid entity diagram of the schema: every view with its keys and references, which are the columns that
 * joins need.
 */
export async function drawEntities(pool: Pool, schema: string): Promise<string> {
  const { rows } = await pool.query<Column>(
    `select relname as view, attname as name,
            replace(format_type(atttypid, null), 'timestamp with time zone', 'timestamptz') as type,
            words ~* 'primary key\\.' as is_key,
            substring(words from 'Refers to (\\w+\\.\\w+)\\.') as refers_to
     from pg_class
     join pg_attribute on attrelid = pg_class.oid and attnum > 0
     cross join lateral (select col_description(attrelid, attnum) as words) described
     where relnamespace = $1::regnamespace and relkind = 'v'
     order by relname, attnum`,
    [schema],
  );
  const shown = rows.filter(({ is_key, refers_to }) => is_key || refers_to !== null);
  const views = Map.groupBy(shown, ({ view }) => view);
  const entities = [...views].flatMap(([view, columns]) => [
    `  ${view} {`,
    ...columns.map(({ type, name, is_key, refers_to }) => {
      const marks = [...(is_key ? ['PK'] : []), ...(refers_to === null ? [] : ['FK'])];
      return `    ${type} ${name} ${marks.join(', ')}`;
    }),
    '  }',
  ]);
  // None or one on the side that is referred to: the program may send one half of a pair before the other.
  const joins = shown.flatMap(({ view, name, refers_to }) =>
    refers_to === null ? [] : [`  ${refers_to.split('.')[0]} |o--o{ ${view} : ${name}`],
  );
  return `${['erDiagram', ...entities, ...joins].join('\n')}\n`;
}
