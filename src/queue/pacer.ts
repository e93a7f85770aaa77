// When something is looked at again and again: after a rest, or as soon as somebody asks for it, but never twice at the
// same time nor right after another.

/** Between two looks, however often one is asked for: by a batch of requests, or by jobs that find nothing to do. */
const PAUSE_MS = 100;

export interface Pacer {
  /** Looks for the first time after this long. */
  start(restMs: number): void;
  /** Looks now, or as soon as it may. */
  askNow(): void;
  /** Resolves once no look is under way, nor will be. Idempotent: yes. */
  stop(): Promise<void>;
}

/** Returns the pacer; `look` never rejects, and resolves to how many milliseconds to rest unless somebody asks. */
export function makePacer(look: () => Promise<number>): Pacer {
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> | null = null;
  let isAskedFor = false;
  let isStopped = false;
  let mayLookMs = 0;

  function lookAfter(ms: number): void {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(run, ms);
  }

  function run(): void {
    isAskedFor = false;
    underWay = look().then((restMs) => {
      underWay = null;
      mayLookMs = performance.now() + PAUSE_MS;
      lookAfter(isAskedFor ? PAUSE_MS : Math.max(PAUSE_MS, restMs));
    });
  }

  return {
    start: lookAfter,
    askNow() {
      isAskedFor = true;
      if (underWay === null) lookAfter(Math.max(0, mayLookMs - performance.now()));
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
