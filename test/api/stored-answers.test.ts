// What the client asks of a cache in front of the program. What it makes of an old answer: answer-age.unit.test.ts.

import { expect, test } from 'vitest';
import { makeClient } from './make-client.ts';
import { COMMISSION, ID, PAY, rawAnswer, startRawProgram } from './raw-program.ts';

const LIST = { page: 1, limit: 10 } as const;

test('every read is asked for with cache-control: no-cache', async () => {
  const list =
    '{"pagination":{"previous_page":null,"current_page":1,"next_page":null,"count":0,"limit":10,"total_pages":0,"total_count":0},"data":[]}';
  const program = await startRawProgram((socket, _number, request) =>
    socket.write(rawAnswer('200 OK', request.includes(ID) ? COMMISSION : list)),
  );
  const { api } = makeClient({ url: program.url });
  await api.list('affiliates', LIST);
  await api.getCommission(ID);
  await api.putCommission(ID, PAY);
  const asking = program.requests.map((request) => /^cache-control: no-cache\r$/m.test(request));
  expect(asking).toEqual([true, true, false]);
});
