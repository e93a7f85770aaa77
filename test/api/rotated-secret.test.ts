// A secret that is rotated: where the program refuses the one in use, the client asks for the secret as it is by now.

import { expect, test } from 'vitest';
import { failureOf, makeClient, SECRET } from './make-client.ts';
import { useSandbox } from './start-test-sandbox.ts';

const given = useSandbox();
const FORMER = 'former-secret';
const PAGE = { page: 1, limit: 1 };

test('a refused secret is read again, and another one is used at once and from then on', async () => {
  const { sandbox, received } = given();
  let reads = 0;
  const rereadSecret = () => {
    reads += 1;
    return SECRET;
  };
  // A worker that is paused tries once, and not again for minutes.
  const attempts = { most: 1, mostThrottled: 1 };
  const { api, events, lines, permits } = makeClient({
    url: sandbox.url,
    secret: FORMER,
    rereadSecret,
    attempts,
  });
  await api.list('affiliates', PAGE);
  await api.list('affiliates', PAGE);
  expect(events.map(({ status }) => status)).toEqual([401, 200, 200]);
  expect({ received: received(), reads }).toEqual({ received: 3, reads: 1 });
  expect({ granted: permits.granted(), returned: permits.returned.length }).toEqual({
    granted: 3,
    returned: 3,
  });
  expect(lines.join('\n')).toContain('its file holds another one by now');
  for (const secret of [FORMER, SECRET])
    expect(lines.join('\n')).not.toContain(JSON.stringify(secret).slice(1, -1));
});

test('a payment that was refused for its secret is asked for leave again before it is sent with another one', async () => {
  const { sandbox, commissionIds } = given();
  const { api, events } = makeClient({ url: sandbox.url, secret: FORMER, rereadSecret: () => SECRET });
  let asked = 0;
  const beforeSend = async () => {
    asked += 1;
    return () => true;
  };
  await api.putCommission(commissionIds[0] ?? '', { paid_at: '2026-02-03T04:05:06Z' }, { beforeSend });
  expect(events.map(({ status }) => status)).toEqual([401, 200]);
  expect(asked).toBe(2);
});

test.each([
  ['the same secret', () => FORMER],
  ['none', () => null],
])('a file that holds %s by then leaves it at one request', async (_, rereadSecret) => {
  const { sandbox, received } = given();
  const { api } = makeClient({ url: sandbox.url, secret: FORMER, rereadSecret });
  expect(await failureOf(api.list('affiliates', PAGE))).toMatchObject({ code: 'API_UNAUTHORIZED' });
  expect(received()).toBe(1);
});
