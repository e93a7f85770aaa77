// What this room needs of pg's pool: a connection for a moment, or to listen on. (pg itself belongs to the room db.)

import type { PgQueryable } from 'bullmq';

export interface PooledConnection extends PgQueryable {
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  release(isBroken?: boolean): void;
}

export interface ConnectionPool {
  connect(): Promise<PooledConnection>;
}
