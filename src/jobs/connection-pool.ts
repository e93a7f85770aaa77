// What this room needs of pg's pool: a connection for a moment. (pg itself belongs to the room db.)

import type { PgQueryable } from 'bullmq';

export interface ConnectionPool {
  connect(): Promise<PgQueryable & { release(isBroken?: boolean): void }>;
}
