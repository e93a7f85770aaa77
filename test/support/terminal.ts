// A terminal of a given size with a command in it: a real pseudo-terminal (util-linux' script, which every Debian has),
// and an emulator that keeps the screen as a person would see it.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

// CommonJS without names that ESM sees.
const xterm = createRequire(import.meta.url)('@xterm/headless') as typeof import('@xterm/headless');

export type Emulator = InstanceType<typeof xterm.Terminal>;

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalSession {
  readonly emulator: Emulator;
  /** Returns the lines of the screen, without the blanks behind them. */
  screen(): string[];
  /** Returns what scrolled out of it too. */
  everything(): string[];
  /** Resolves at the first moment at which the screen shows it. Throws: Error where the command ends before. */
  untilShown(pattern: RegExp): Promise<void>;
  /** Types the keys; Ctrl-C is \u0003. */
  type(keys: string): void;
  /** The command's exit code, once it has ended and all it wrote is on the screen. */
  readonly ended: Promise<number | null>;
  /** Ends the command, where a failed test left it. */
  kill(): void;
}

/** Returns the session, in which a shell runs that command. Its lines may be many: it is the shell's whole input. */
export function openTerminal(
  command: string,
  { size, environment, cwd }: { size: Size; environment: Readonly<Record<string, string>>; cwd?: string },
): TerminalSession {
  const { columns, rows } = size;
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 10_000 });
  const child = spawn(
    'script',
    [
      '--quiet',
      '--return',
      '--flush',
      '--command',
      `stty cols ${columns} rows ${rows}; ${command}`,
      '/dev/null',
    ],
    {
      env: { SHELL: '/bin/sh', ...environment },
      ...(cwd !== undefined && { cwd }),
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const watchers = new Set<() => void>();
  let written = Promise.resolve();
  child.stdout.on('data', (chunk: Buffer) => {
    // Piece by piece: what one drawing shows and the next one takes away is seen as well.
    for (const piece of chunk.toString('latin1').split(/(?=\r)/)) {
      written = written.then(
        () => new Promise((resolve) => emulator.write(Buffer.from(piece, 'latin1'), resolve)),
      );
      written = written.then(() => {
        for (const look of watchers) look();
      });
    }
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => written.then(() => resolve(code)));
  });
  const { active } = emulator.buffer;
  const linesFrom = (first: number) =>
    Array.from(
      { length: active.length - first },
      (_, index) => active.getLine(first + index)?.translateToString(true) ?? '',
    );
  const session: TerminalSession = {
    emulator,
    screen: () => linesFrom(active.baseY),
    everything: () => linesFrom(0),
    untilShown(pattern) {
      const shown = new Promise<void>((resolve) => {
        const look = () => {
          if (!session.screen().some((line) => pattern.test(line))) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      });
      const over = ended.then((code) => {
        throw new Error(
          `ended with ${code} before it showed ${pattern}:\n${session.everything().join('\n').trimEnd()}`,
        );
      });
      return Promise.race([shown, over]);
    },
    type: (keys) => void child.stdin.write(keys),
    ended,
    kill: () => void child.kill('SIGTERM'),
  };
  return session;
}
