// The statements that answer requests are long, and Postgres takes as long to plan one as to run it: under a name, a
// connection plans it a few times and then keeps the plan.

import { createHash } from 'node:crypto';
import type { QueryConfig } from 'pg';

/** Returns the statement under a name of its own: that of any other text is another one. */
export function nameStatement(text: string, values: unknown[]): QueryConfig {
  return { name: createHash('sha1').update(text).digest('hex'), text, values };
}
