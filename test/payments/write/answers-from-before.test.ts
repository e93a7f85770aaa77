// A program that accepts a change, and answers with a commission that does not show it: it may have answered with what
// was there before, so the commission is read once more before anything is said.

import { expect, test } from 'vitest';
import type { Altered } from '../../support/altering-proxy.ts';
import { makeAlteredApi, useWriter } from './start-writer.ts';

const writer = useWriter();

/**
 * Has a commission paid, and returns what became of that. `answer` says what each call for it is answered with, the
 * first being 1; it is passed the program's own answer, and that to the first call.
 */
async function pay(answer: (call: number, real: string, first: string) => Altered) {
  const { fresh, askToPay, drain, db, sandbox, row, attempts, received } = writer();
  const { id } = await fresh();
  const [asked] = await askToPay([{ id }]);
  const bodies: string[] = [];
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (!path.includes(id)) return body;
    bodies.push(body);
    return answer(bodies.length, body, bodies[0] ?? '');
  });
  await drain({ api });
  const methods = (await attempts(asked?.id)).map(({ method }) => method);
  return { row: await row(asked?.id), methods, puts: received('PUT').length };
}

test('a change that its own answer does not show, and the next reading does, is applied, and sent once', async () => {
  const { row, methods, puts } = await pay((call, real, first) => (call === 2 ? first : real));
  expect(row).toMatchObject({
    state: 'applied',
    outcome: 'marked paid at 2026-10-05T12:00:00Z',
    note: 'the answer to the change did not show it; reading the commission showed that it had arrived',
    before: { paid_at: null },
    after: { paid_at: expect.stringMatching(/^2026-10-05T12:00:00/) },
    attempts: 0,
  });
  expect(methods).toEqual(['GET', 'PUT', 'GET']);
  expect(puts).toBe(1);
});

test('a change that was accepted and not made ends as failed, once the commission was read again', async () => {
  const { row, methods, puts } = await pay((_call, _real, first) => first);
  expect(row).toMatchObject({
    state: 'failed',
    outcome: 'the API accepted the change, but answered that the commission is unpaid',
    note: null,
    after: { paid_at: null },
  });
  expect(methods).toEqual(['GET', 'PUT', 'GET']);
  expect(puts).toBe(1);
});

test('where that reading fails, the next try reads before anything is sent again', async () => {
  const { row, methods, puts } = await pay((call, real, first) => {
    if (call === 2) return first;
    return call === 3 ? { status: 422, body: '{"error":"not now"}' } : real;
  });
  expect(row).toMatchObject({ state: 'applied', before: { paid_at: null } });
  expect(methods).toEqual(['GET', 'PUT', 'GET', 'GET']);
  expect(puts).toBe(1);
});
