// The schemas of the programs in one database: no two programs may have one in common, by derived names either.

import { reportsSchema, siblingSchema } from '../program/sibling-schema.ts';

interface Named {
  readonly name: string;
  readonly schema: string;
}

/** Returns a problem for each program that has a schema of one before it, or of what all programs share. */
export function findSharedSchemas<P extends Named>(
  programs: readonly P[],
  baseSchema: string,
): { readonly program: P; readonly message: string }[] {
  const owners = new Map<string, string>();
  const problems: { program: P; message: string }[] = [];
  for (const program of programs) {
    const { name, schema } = program;
    const own = schemasOf(schema);
    // A program on the base schema had its queue there before there were others.
    const common = schema === baseSchema ? [] : commonSchemas(baseSchema);
    const shared = own.find((one) => owners.has(one) || common.includes(one));
    if (shared === undefined) {
      for (const one of own) owners.set(one, name);
      continue;
    }
    const owner = owners.get(shared);
    const whose = owner === undefined ? 'kept for what all programs share' : `a schema of program ${owner}`;
    const through = shared === schema ? '' : ` (by its schema ${schema})`;
    problems.push({
      program,
      message: `would use the schema ${shared}${through}, which is ${whose}: give it another`,
    });
  }
  return problems;
}

function schemasOf(schema: string): string[] {
  return [schema, reportsSchema(schema), ...commonSchemas(schema)];
}

/** The queue's, and the views over all programs. */
function commonSchemas(schema: string): string[] {
  return [siblingSchema(schema, 'queue'), siblingSchema(schema, 'all')];
}
