// Refusals of something in front of the program: of one commission alone, while the program answers others, they decide
// nothing; of everything, they are an outage.

import { describe, expect, test } from 'vitest';
import { makeAlteredApi, PAID_AT, useWriter } from './start-writer.ts';

const writer = useWriter();

const PAGE = '<!doctype html><title>Forbidden</title>';
const REFUSALS = [
  { what: 'a redirect', status: 302, body: '' },
  { what: 'a web page with 403', status: 403, body: PAGE },
  { what: 'a web page with 404', status: 404, body: PAGE },
] as const;

/** Asks for two payments, and returns what drains them, where the first's calls of these numbers are refused. */
async function askForTwo(refusal: (typeof REFUSALS)[number], isRefused: (call: number) => boolean) {
  const { freshMany, ask, drain, db, sandbox, row } = writer();
  const [one, other] = await freshMany(2);
  const asked = await ask(
    ...[one, other].map((of) => ({ commission_id: of?.id ?? '', action: 'pay' as const, paid_at: PAID_AT })),
  );
  let calls = 0;
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (!path.includes(one?.id ?? '')) return body;
    calls += 1;
    return isRefused(calls) ? refusal : body;
  });
  const [first, second] = asked.map(({ id }) => id);
  /** Drains until the first payment has ended. */
  const end = async () => {
    do await drain({ api, concurrency: 1 });
    while ((await row(first)).state === 'pending');
    return { refused: await row(first), other: await row(second) };
  };
  return { end, first };
}

describe.each(REFUSALS)('$what for one commission', (refusal) => {
  test('that passes costs its payment no more than a try', async () => {
    const { end } = await askForTwo(refusal, (call) => call === 1);
    const { refused, other } = await end();
    expect(refused).toMatchObject({ state: 'applied', attempts: 1, note: null });
    expect(other).toMatchObject({ state: 'applied', attempts: 0 });
  });

  test('that stays ends its payment as failed in the end, with what was answered', async () => {
    const { end } = await askForTwo(refusal, () => true);
    const { refused, other } = await end();
    expect(refused).toMatchObject({ state: 'failed', attempts: 12, put_sent_at: null });
    expect(refused.outcome).toContain('given up after 12 tries, while the API answered others');
    expect(refused.outcome).toContain(String(refusal.status));
    expect(other).toMatchObject({ state: 'applied' });
  });

  test('in answer to a change that was applied is found out by reading, and nothing is sent again', async () => {
    const { end, first } = await askForTwo(refusal, (call) => call === 2);
    const { refused } = await end();
    expect(refused).toMatchObject({ state: 'applied', attempts: 0 });
    expect(refused.note).toContain('the answer to the change was lost');
    const puts = (await writer().attempts(first)).filter(({ method }) => method === 'PUT');
    expect(puts).toMatchObject([{ status: refusal.status, error_code: 'WRITE_UNKNOWN' }]);
  });
});
