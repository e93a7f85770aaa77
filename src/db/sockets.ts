// The sockets of a pool's connections, so that all can be closed at once: also one that is still being made, and one
// that waits for a lock or for a server which says nothing. Postgres undoes what was not committed.

import { Socket } from 'node:net';

export interface Sockets {
  /** Returns the socket of one more connection, not connected yet: pg's `stream`. */
  readonly open: () => Socket;
  /** Closes every connection, and each that is made from now on. Idempotent: yes. */
  readonly closeAll: () => void;
  readonly areClosed: () => boolean;
}

/** Returns the sockets of a pool that has no connection yet. */
export function makeSockets(): Sockets {
  const sockets = new Set<Socket>();
  let areClosed = false;
  return {
    open() {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      // Once pg connects it: to connect a socket opens one that was closed before.
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
