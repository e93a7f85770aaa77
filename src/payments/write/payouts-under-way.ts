// What became of the payouts that were sent, read as one list for all requests that wait for that: a payout of the list
// needs no reading of its own. The list holds those that are being paid and those that are paid, newest first, with
// their commissions; one that is not in it, or is to be paid still, is read by itself.

import { uptime } from 'node:os';
import { sql } from 'kysely';
import type { ApiClient, ListedPage, ReadPayout } from '../../api/client.ts';
import type { ListQuery } from '../../api/request-parameters.ts';
import { payablePayoutSchema } from '../../contract/payout.ts';
import { toMicros } from '../../contract/timestamp.ts';
import type { Database } from '../../db/database.ts';
import { onlyRow } from '../../db/only-row.ts';
import { LONGEST_MS } from '../judge-payout.ts';
import type { ClaimedPayout } from '../payout-request.ts';
import { ONCE } from './send-change.ts';

export interface PayoutsUnderWay {
  /**
   * Returns the payout as the list has it, if it is paid; `wait` if it is being paid, or if the list is younger than
   * `everyMs` and was read before the payment was sent, or before the mirror observed the payout: while the answer to
   * the payment was on its way, a list may have it as paid, which the mirror would refuse as older; null if it is to be
   * read by itself: while few are being paid, if the list cannot be read or lacks it, and after a day.
   *
   * Throws: the database's errors.
   */
  find(
    request: Pick<ClaimedPayout, 'payout_id' | 'waited_ms' | 'mirrored_at'>,
    options: { readonly everyMs: number; readonly signal: AbortSignal },
  ): Promise<Pick<ReadPayout, 'payout' | 'askedAt'> | 'wait' | null>;
}

type Payouts = ReadonlyMap<string, Pick<ReadPayout, 'payout' | 'askedAt'>>;

/** Fewer are read one by one: a payment of one payout then ends as soon as it can. */
const MANY = 10;
const LIMIT = 100;
/** Read beyond the pages that the waiting requests would fill: other payouts are in the list, too. */
const MORE_PAGES = 1;
const PROCESSING = 'processing';
const STATES = [PROCESSING, 'paid'];

/** Returns what is known of one API; to be kept for as long as its writers follow each other. */
export function makePayoutsUnderWay({ api, db }: { api: ApiClient; db: Database }): PayoutsUnderWay {
  let list: { readonly askedAt: number; readonly payouts: Promise<Payouts | null> } | null = null;
  let isReading = false;
  return {
    async find({ payout_id, waited_ms, mirrored_at }, { everyMs, signal }) {
      if (waited_ms >= LONGEST_MS) return null;
      const sentAt = uptime() - waited_ms / 1000;
      const isFresh = () => list !== null && (isReading || uptime() - list.askedAt < everyMs / 1000);
      if (!isFresh()) {
        const waiting = await countWaiting(db);
        if (waiting < MANY) return null;
        const pages = Math.ceil(waiting / LIMIT) + MORE_PAGES;
        if (!isFresh()) {
          isReading = true;
          const payouts = readList(api, pages, signal).finally(() => {
            isReading = false;
          });
          list = { askedAt: uptime(), payouts };
        }
      }
      if (list === null) return null;
      const { askedAt } = list;
      const payouts = await list.payouts;
      if (payouts === null) return null;
      const listed = payouts.get(payout_id) ?? null;
      const isOlder =
        listed !== null && mirrored_at !== null && toMicros(listed.askedAt) < toMicros(mirrored_at);
      return askedAt < sentAt || isOlder || listed?.payout.state === PROCESSING ? 'wait' : listed;
    },
  };
}

async function countWaiting(db: Database): Promise<number> {
  const answer = await sql<{ waiting: number }>`
    select count(*) as waiting from commission_updates
    where state = 'pending' and payout_id is not null and put_sent_at is not null
  `.execute(db);
  return onlyRow(answer, 'commission_updates').waiting;
}

/** Returns null if the API does not answer with just those: the reading of a payout then says what is wrong. */
async function readList(api: ApiClient, mostPages: number, signal: AbortSignal): Promise<Payouts | null> {
  const payouts = new Map<string, Pick<ReadPayout, 'payout' | 'askedAt'>>();
  try {
    for (let page: number | null = 1; page !== null && page <= mostPages; ) {
      const query: ListQuery<'payouts'> = {
        page,
        limit: LIMIT,
        filters: { state: STATES },
        expand: ['affiliate', 'commissions'],
      };
      const listed: ListedPage = await api.list('payouts', query, { signal, attempts: ONCE });
      for (const record of listed.data) {
        const payout = payablePayoutSchema.parse(record);
        if (!STATES.includes(payout.state)) return null;
        if (payout.commissions !== undefined) payouts.set(payout.id, { payout, askedAt: listed.askedAt });
      }
      page = listed.pagination.next_page;
    }
    return payouts;
  } catch {
    return null;
  }
}
