// Exports take turns over all programs of a process.

import { expect, test } from 'vitest';
import { makeExportTurns } from '../../../src/worker/sources/export-turns.ts';

const NEVER = new AbortController().signal;
const [ACME, BOLT, COBRA] = [{}, {}, {}];

function start() {
  const turns = makeExportTurns();
  const begun: string[] = [];
  const gates = new Map<string, () => void>();
  const take = (name: string, owner: object, signal = NEVER) =>
    turns.take(owner, signal, () => {
      begun.push(name);
      return new Promise<void>((resolve) => gates.set(name, resolve));
    });
  const end = (name: string) => gates.get(name)?.();
  return { begun, take, end };
}

test('two run at once, and one of a program', async () => {
  const { begun, take, end } = start();
  const all = [take('a-1', ACME), take('a-2', ACME), take('b-1', BOLT), take('c-1', COBRA)];
  await expect.poll(() => begun).toEqual(['a-1', 'b-1']);
  end('b-1');
  await expect.poll(() => begun).toEqual(['a-1', 'b-1', 'c-1']);
  end('a-1');
  await expect.poll(() => begun).toEqual(['a-1', 'b-1', 'c-1', 'a-2']);
  end('a-2');
  end('c-1');
  await Promise.all(all);
});

test('so many wait in place, and the next is sent away', async () => {
  const { begun, take } = start();
  const taken = Array.from({ length: 12 }, (_, index) => take(`a-${index}`, ACME));
  expect(taken.map((turn) => turn === null)).toEqual([...Array(9).fill(false), true, true, true]);
  await expect.poll(() => begun).toEqual(['a-0']);
});

test('one that is stopped while it waits leaves the line at once', async () => {
  const { begun, take, end } = start();
  const stopping = new AbortController();
  const first = take('a-1', ACME);
  const second = take('a-2', ACME, stopping.signal);
  const third = take('a-3', ACME);
  stopping.abort(new Error('stopped'));
  await expect(second).rejects.toThrow('stopped');
  end('a-1');
  await first;
  await expect.poll(() => begun).toEqual(['a-1', 'a-3']);
  end('a-3');
  await third;
});
