// Exports of a process take turns: each holds connections, and memory for a part of a file.

/** At once, over all programs; of one program one. */
const MOST = 2;
/** So many jobs wait in place; the others give their slots back to the queue. */
const MOST_WAITING = 8;

export interface ExportTurns {
  /**
   * Runs `work` in its turn. Returns null at once if too many wait already. `owner` is one value for each program.
   *
   * Throws: what `work` throws; the signal's reason when aborted.
   */
  take<T>(owner: object, signal: AbortSignal, work: () => Promise<T>): Promise<T> | null;
}

interface Waiting {
  readonly owner: object;
  readonly begin: () => void;
}

export function makeExportTurns(): ExportTurns {
  const active = new Set<object>();
  const waiting: Waiting[] = [];
  const beginNext = () => {
    const at = waiting.findIndex(({ owner }) => active.size < MOST && !active.has(owner));
    if (at === -1) return;
    const [next] = waiting.splice(at, 1);
    if (next === undefined) return;
    active.add(next.owner);
    next.begin();
  };
  const untilTurn = async (owner: object, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const one = { owner, begin: resolve };
    const leave = () => {
      const at = waiting.indexOf(one);
      if (at === -1) return;
      waiting.splice(at, 1);
      reject(signal.reason);
    };
    waiting.push(one);
    beginNext();
    signal.addEventListener('abort', leave);
    await promise.finally(() => signal.removeEventListener('abort', leave));
  };
  return {
    take(owner, signal, work) {
      if (waiting.length >= MOST_WAITING) return null;
      return untilTurn(owner, signal).then(async () => {
        try {
          return await work();
        } finally {
          active.delete(owner);
          beginNext();
        }
      });
    },
  };
}
