// A connection whose process stopped while it sent a large statement.

import type { Socket } from 'node:net';
import type { PoolClient } from 'pg';

/**
 * Sends what pg would send: one message of a statement whole, and half of the message that follows it. Resolves once
 * the server has closed the connection, which then belongs back to its pool as broken.
 */
export function sendHalfOfStatement(client: PoolClient): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  const text = Buffer.from('\0select 1\0\0\0');
  const parse = Buffer.concat([Buffer.from('P'), lengthOf(text.length + 4), text]);
  const halfOfBind = Buffer.concat([Buffer.from('B'), lengthOf(1_000_000), Buffer.alloc(1000)]);
  const closed = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', () => {});
  stream.write(Buffer.concat([parse, halfOfBind]));
  return closed;
}

function lengthOf(bytes: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(bytes);
  return buffer;
}
