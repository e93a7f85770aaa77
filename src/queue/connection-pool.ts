// The part of pg's pool that src/queue uses: a connection for a moment, or to listen on. (Only src/db imports pg.)

import type { PgQueryable } from 'bullmq';

export interface PooledConnection extends PgQueryable {
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  release(isBroken?: boolean): void;
}

export interface ConnectionPool {
  connect(): Promise<PooledConnection>;
}
