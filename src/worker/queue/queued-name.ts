// Names of jobs, and their identifiers, as the queue of several programs has them: `acme.sync`.

/** Not part of a program's name, a source's or an item's. */
const SEPARATOR = '.';

/** Returns the name that a name or identifier of the program has in the queue. */
export function toQueued(program: string | null, name: string): string {
  return program === null ? name : `${program}${SEPARATOR}${name}`;
}

/** Returns the program that a name or identifier of the queue belongs to. */
export function programOf(queued: string): string | null {
  const at = queued.indexOf(SEPARATOR);
  return at === -1 ? null : queued.slice(0, at);
}

/** Returns a name or identifier of the queue without its program. */
export function fromQueued(queued: string): string {
  return queued.slice(queued.indexOf(SEPARATOR) + 1);
}
