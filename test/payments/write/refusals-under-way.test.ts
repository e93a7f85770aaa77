// Refusals that are under way while a front end loses the program, or finds it again: they come late, and beside good
// answers.

import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ApiClient } from '../../../src/api/client.ts';
import { trackCommissions } from '../../../src/payments/poll/track-commissions.ts';
import { pollTracked } from '../../../src/payments/poll/tracked-commissions.ts';
import { previewUpdates } from '../../../src/payments/preview-updates.ts';
import { plainRequest } from '../../../src/payments/update-request.ts';
import { applyUpdates } from '../../../src/payments/write/apply-updates.ts';
import { makeAlteredApi, makeTestApi, PAID_AT, silent, useWriter } from './start-writer.ts';

const writer = useWriter();

/** Something that happens once; what waits for it goes on when all that it caused has happened, too. */
function event() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { happened: async () => promise.then(() => turn()).then(() => turn()), happens: resolve };
}

/** Returns the program, and a front end without it that answers 404 to everything. */
function fronts() {
  const { db, sandbox } = writer();
  const there = makeTestApi(db, sandbox.url);
  const away = makeTestApi(db, `${sandbox.url}/elsewhere`);
  onTestFinished(async () => void (await Promise.all([there.close(), away.close()])));
  return { there, away };
}

/** Returns an api in which calls for a commission, and lists, are answered in a way of their own, the first time. */
function once(
  api: ApiClient,
  first: { commissions: Readonly<Record<string, ApiClient['getCommission']>>; list: ApiClient['list'] },
): ApiClient {
  const unanswered = new Map(Object.entries(first.commissions));
  let isListed = false;
  return {
    ...api,
    getCommission(id, options) {
      const own = unanswered.get(id) ?? api.getCommission;
      unanswered.delete(id);
      return own(id, options);
    },
    list(...call) {
      const own = isListed ? api.list : first.list;
      isListed = true;
      return own(...call);
    },
  };
}

/**
 * Returns an api in which the front end has lost the program when it is asked for one commission, and for the list
 * after that. A second commission is asked for meanwhile, a third once the program is back; the refusal of the second
 * comes after the answer to the third.
 */
function lostAndFound([lost, late, found]: readonly [string, string, string]): ApiClient {
  const { there, away } = fronts();
  const [isDown, isBack] = [event(), event()];
  return once(there, {
    commissions: {
      [lost]: away.getCommission,
      [late]: async (...call) => {
        const refused = away.getCommission(...call);
        await Promise.all([isBack.happened(), refused.catch(() => {})]);
        return refused;
      },
      [found]: async (...call) => {
        await isDown.happened();
        return there.getCommission(...call).finally(isBack.happens);
      },
    },
    list: (...call) => away.list(...call).finally(isDown.happens),
  });
}

type Four = [string, string, string, string];

test('a drain ends no payment for a refusal that was under way when the program was found again', async () => {
  const { freshMany, askToPay, drain } = writer();
  const ids = (await freshMany(4)).map(({ id }) => id) as Four;
  await askToPay(ids.map((id) => ({ id })));
  const api = lostAndFound([ids[1], ids[2], ids[3]]);
  const { ended } = await drain({ api, concurrency: 3 });
  expect(ended).toEqual({ applied: 4 });
});

test('a refusal is not believed for an answer to what was asked before it, because of another refusal', async () => {
  const { freshMany } = writer();
  const ids = (await freshMany(3)).map(({ id }) => id) as [string, string, string];
  const { there, away } = fronts();
  const [isAsked, isRefused] = [event(), event()];
  const api = once(
    { ...there, list: away.list },
    {
      commissions: {
        [ids[1]]: away.getCommission,
        [ids[2]]: async (...call) => {
          await isAsked.happened();
          return away.getCommission(...call).finally(isRefused.happens);
        },
      },
      list: async (...call) => {
        const answer = await there.list(...call);
        isAsked.happens();
        await isRefused.happened();
        return answer;
      },
    },
  );
  const requests = ids.map((id) => plainRequest({ commission_id: id, action: 'pay', paid_at: PAID_AT }));
  const previewed = previewUpdates({ client: api, db: writer().db }, requests, {
    concurrency: 2,
    signal: AbortSignal.timeout(100_000),
  });
  await expect(Array.fromAsync(previewed)).rejects.toThrow('the API is down');
});

test('a refusal is not believed for an answer from before it, to what was asked after', async () => {
  const { freshMany, askToPay, drain, db, sandbox } = writer();
  const [first, late, later] = (await freshMany(3)).map(({ id }) => id) as [string, string, string];
  const [isAsked, isPaid] = [event(), event()];
  const notFound = { status: 404, body: '{"error":"Not Found"}' };
  let front: 'there' | 'losing' | 'lost' | 'found' = 'there';
  const api = await makeAlteredApi({ db, sandbox }, async (body, path) => {
    if (path.endsWith(late) && front === 'there') {
      front = 'losing';
      isAsked.happens();
      await isPaid.happened();
      front = 'lost';
      return notFound;
    }
    if (path.endsWith(later)) await isAsked.happened();
    if (front !== 'lost' || !path.includes('/affiliates')) return body;
    front = 'found';
    return notFound;
  });
  await askToPay([first, late, later].map((id) => ({ id })));
  const { ended } = await drain({
    api,
    concurrency: 3,
    onEnd: (update) => {
      if (update.commission_id === later) isPaid.happens();
    },
  });
  expect(ended).toEqual({ applied: 3 });
  expect(front).toBe('found');
});

test('a 404 that is no answer of the program, between good ones, does not say that a commission is gone', async () => {
  const { freshMany, askToPay, row, db, sandbox, database } = writer();
  const [first, paged] = (await freshMany(2)).map(({ id }) => id) as [string, string];
  const api = await makeAlteredApi({ db, sandbox }, (body, path) =>
    path.endsWith(paged) ? { status: 404, body: '<html><h1>404 Not Found</h1></html>' } : body,
  );
  const asked = await askToPay([first, paged].map((id) => ({ id })));
  const options = { concurrency: 1, signal: AbortSignal.timeout(100_000) };
  expect((await applyUpdates({ api, db, log: silent }, options)).ended).toEqual({ applied: 1 });
  expect(await row(asked[1]?.id)).toMatchObject({
    state: 'pending',
    last_error: expect.stringContaining('(404, with a web page)'),
  });

  await trackCommissions(db, [paged], null);
  await database.pool.query(
    `update tracked_commissions set next_poll_at = now() - interval '1 minute' where commission_id = $1`,
    [paged],
  );
  expect(await pollTracked({ client: api, db, log: silent }, options)).toMatchObject({ gone: 0 });
});

test('a 404 is not believed where the program fails once before it answers again', async () => {
  const { freshMany, askToPay, drain, db, sandbox } = writer();
  const [first, late] = (await freshMany(2)).map(({ id }) => id) as [string, string];
  let front: 'there' | 'lost' | 'starting' = 'there';
  const api = await makeAlteredApi({ db, sandbox }, (body, path) => {
    if (path.endsWith(late) && front === 'there') {
      front = 'lost';
      return { status: 404, body: '{"error":"no Route matched with those values"}' };
    }
    if (front !== 'lost') return body;
    front = 'starting';
    return { status: 503, body: 'Service Unavailable' };
  });
  await askToPay([first, late].map((id) => ({ id })));
  expect((await drain({ api, concurrency: 1 })).ended).toEqual({ applied: 2 });
  expect(front).toBe('starting');
});
