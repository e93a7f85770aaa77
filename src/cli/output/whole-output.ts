// Output into a file is written whole, or the stream says why not. Node's own stream for files calls write(2) once a
// text and does not look at how much of it was taken: what a disk that fills up has no room for is then gone, without
// an error. The call after it is the one that fails.
//
// By the `_write` of the stream, so that whoever writes to it is held to that: this program, and commander. Pipes and
// terminals are left as they are, since Node's streams for those wait and go on by themselves.

import { fstatSync, writeSync } from 'node:fs';

/** Has the stream write all of what it is given, or fail with the system's error. Idempotent: yes. */
export function writeWhole(stream: NodeJS.WriteStream & { readonly fd: number }): void {
  if (!fstatSync(stream.fd).isFile()) return;
  stream._write = (chunk: Uint8Array, _, done) => {
    try {
      for (let written = 0; written < chunk.length; ) written += writeSync(stream.fd, chunk, written);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done();
  };
}
