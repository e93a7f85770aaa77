// The fastest way to load the same rows: COPY of what was synced into the same, emptied tables with their indexes. pg
// knows the protocol's messages, but has no COPY of its own: this adds it.

import type pg from 'pg';

/** Rows of one table in COPY's text form, as Postgres sent them. */
export interface CopiedTable {
  readonly table: string;
  readonly chunks: readonly Buffer[];
}

interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Returns the rows of the table. */
export async function copyOut(client: pg.PoolClient, table: string): Promise<CopiedTable> {
  const chunks: Buffer[] = [];
  await copy(client, `copy ${table} to stdout`, {
    // A view of the connection's buffer, which is written over.
    handleCopyData: ({ chunk }: { chunk: Buffer }) => chunks.push(Buffer.from(chunk)),
  });
  return { table, chunks: [Buffer.concat(chunks)] };
}

/** Puts the rows into their table. */
export async function copyIn(client: pg.PoolClient, { table, chunks }: CopiedTable): Promise<void> {
  await copy(client, `copy ${table} from stdin`, {
    handleCopyInResponse: (connection: CopyConnection) => {
      for (const chunk of chunks) connection.sendCopyFromChunk(chunk);
      connection.endCopyFrom();
    },
  });
}

function copy(client: pg.PoolClient, statement: string, handlers: object): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection: unknown) => (connection as CopyConnection).query(statement),
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: reject,
      ...handlers,
    } as pg.Submittable);
  });
}
