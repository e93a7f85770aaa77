// The sockets of a pool's connections, so that all can be closed at once: also a connection that is still being made,
// and one that waits for a lock or for a silent server. Postgres rolls open transactions back.

import { Socket } from 'node:net';

export interface Sockets {
  /** Returns a new socket, not connected yet, for pg's `stream`. */
  readonly open: () => Socket;
  /** Closes every connection, also those that are made later. Idempotent: yes. */
  readonly closeAll: () => void;
  readonly areClosed: () => boolean;
}

export function makeSockets(): Sockets {
  const sockets = new Set<Socket>();
  let areClosed = false;
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // After pg has connected it, because that would open a closed socket again.
      if (areClosed) setImmediate(() => socket.destroy());
      return socket;
    },
    closeAll() {
      areClosed = true;
      for (const socket of sockets) socket.destroy();
    },
    areClosed: () => areClosed,
  };
}
