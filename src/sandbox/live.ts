// Simulated events of the program, at a steady rate or one by one for a test: their frequency is here, the changes of
// records in program.ts.

import type { Logger } from '../base/log.ts';
import { deleteRow, type Moment, updateRow } from './data.ts';
import { inventCustomer } from './invent.ts';
import { addPayout, beginPaying } from './payouts.ts';
import { addAffiliate, addReferral, addSale, type Program, pickId } from './program.ts';

export interface LiveOptions {
  /** How many events happen in a second. */
  readonly eventsPerSecond: number;
  readonly onEvent?: (event: LiveEvent) => void;
}

export interface LiveEvent {
  readonly kind: LiveEventKind;
  /** Of the record. */
  readonly id: string;
}

export interface Live {
  /** Returns the event that happened; the same for the same seed, program and number of steps before. */
  step(): Promise<LiveEvent>;
  /** Runs until `stop`; to be called once. */
  start(options: LiveOptions): void;
  /** Resolves when the current event has ended. */
  stop(): Promise<void>;
}

type Happen = (m: Moment) => Promise<string | undefined>;

const state = (name: string) => `conversion_state = '${name}'`;

/** By kind: how often in a hundred events without payouts, and the change; undefined if there is no record for it. */
const EVENTS = {
  visit: [40, comeByLink],
  visit_again: [15, (m) => update(m, 'referrals', 'true', 'visits = visits + 1')],
  lead: [
    15,
    // In the spelling without visitors, a referral begins as a lead.
    (m) =>
      m.spelling === 'neutral'
        ? comeByLink(m)
        : change(m, 'referrals', state('visitor'), (id) =>
            updateRow(m.client, m.s, 'referrals', id, {
              ...inventCustomer(m.randomness),
              conversion_state: 'lead',
              became_lead_at: m.now.toISOString(),
              updated_at: m.now.toISOString(),
            }),
          ),
  ],
  conversion: [
    8,
    (m) =>
      change(m, 'referrals', state('lead'), async (id) => {
        const updated_at = m.now.toISOString();
        const became_conversion_at = updated_at;
        const expiry = m.spelling === 'live' ? { expires_at: null } : {};
        const fields = { conversion_state: 'conversion', ...expiry, became_conversion_at, updated_at };
        await updateRow(m.client, m.s, 'referrals', id, fields);
        await addSale(m, id);
      }),
  ],
  sale: [8, (m) => change(m, 'referrals', state('conversion'), (id) => addSale(m, id))],
  commission_due: [
    4,
    (m) => update(m, 'commissions', `state = 'pending'`, `state = 'due', due_at = least(due_at, $2)`),
  ],
  refund: [2, (m) => change(m, 'commissions', `state in ('pending', 'due')`, (id) => refund(m, id))],
  affiliate_joins: [3, async (m) => (await addAffiliate(m)).id],
  affiliate_signs_in: [1, (m) => update(m, 'affiliates', 'true', 'sign_in_count = sign_in_count + 1')],
  customer_renamed: [
    1,
    (m) =>
      change(m, 'referrals', 'customer_name is not null', (id) =>
        updateRow(m.client, m.s, 'referrals', id, {
          customer_name: m.randomness.faker.person.fullName(),
          updated_at: m.now.toISOString(),
        }),
      ),
  ],
  referral_deleted: [1.5, (m) => remove(m, 'referrals')],
  commission_deleted: [1, (m) => remove(m, 'commissions')],
  affiliate_deleted: [0.5, (m) => remove(m, 'affiliates')],
} as const satisfies Record<string, readonly [weight: number, happen: Happen]>;

/** Where payouts are served, these happen besides. */
const PAYOUT_EVENTS = {
  payout_made: [6, async (m) => (await addPayout(m))?.id],
  payout_due: [1, (m) => update(m, 'payouts', `state = 'pending'`, `state = 'due'`)],
  payout_paid: [4, (m) => change(m, 'payouts', `state = 'due'`, (id) => beginPaying(m.client, m.s, id))],
  payout_dissolved: [
    1,
    (m) =>
      change(m, 'payouts', `state in ('pending', 'due')`, (id) => deleteRow(m.client, m.s, 'payouts', id)),
  ],
} as const satisfies Record<string, readonly [weight: number, happen: Happen]>;

export type LiveEventKind = keyof typeof EVENTS | keyof typeof PAYOUT_EVENTS;

type Events = Readonly<Partial<Record<LiveEventKind, readonly [weight: number, happen: Happen]>>>;

/** Returns the events of a program; tests wait for every kind. */
export function liveEvents(servesPayouts: boolean): Events {
  return servesPayouts ? { ...EVENTS, ...PAYOUT_EVENTS } : EVENTS;
}

export interface LiveDeps {
  readonly program: Program;
  readonly log: Logger;
  readonly servesPayouts: boolean;
}

export function makeLive({ program, log, servesPayouts }: LiveDeps): Live {
  const events = Object.entries(liveEvents(servesPayouts)) as Entry[];
  const step = () => program.moment((m) => happenSomething(m, events));
  let underWay: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  let timer: NodeJS.Timeout | undefined;

  const tick = ({ onEvent }: LiveOptions) => {
    // If the database is slower than the rate, events are skipped instead of piling up.
    if (isBusy) return;
    isBusy = true;
    underWay = step()
      .then((event) => {
        log.debug({ ...event }, 'sandbox.changed');
        onEvent?.(event);
      })
      .catch((error: unknown) => log.error({ err: error }, 'sandbox.change_failed'))
      .finally(() => {
        isBusy = false;
      });
  };
  return {
    step,
    start(options) {
      timer = setInterval(tick, 1000 / options.eventsPerSecond, options);
    },
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

type Entry = readonly [kind: LiveEventKind, event: readonly [weight: number, happen: Happen]];

async function happenSomething(m: Moment, events: readonly Entry[]): Promise<LiveEvent> {
  let draw = m.randomness.next() * events.reduce((sum, [, [weight]]) => sum + weight, 0);
  for (const [kind, [weight, happen]] of events) {
    if (draw < weight) {
      const id = await happen(m);
      if (id !== undefined) return { kind, id };
      break;
    }
    draw -= weight;
  }
  // There was no record for the event, so an affiliate joins.
  return { kind: 'affiliate_joins', id: (await addAffiliate(m)).id };
}

async function comeByLink(m: Moment): Promise<string | undefined> {
  return (await pickId(m, 'affiliates')) ? (await addReferral(m)).id : undefined;
}

type Living = 'affiliates' | 'referrals' | 'commissions' | 'payouts';

async function change(
  m: Moment,
  table: Living,
  condition: string,
  apply: (id: string) => Promise<unknown>,
): Promise<string | undefined> {
  const id = await pickId(m, table, condition);
  if (id !== undefined) await apply(id);
  return id;
}

/** In the assignments, `$2` is the present. */
function update(m: Moment, table: Living, condition: string, assignments: string): ReturnType<Happen> {
  const statement = `update ${m.s}.${table} set ${assignments}, updated_at = $2 where id = $1`;
  return change(m, table, condition, (id) => m.client.query(statement, [id, m.now]));
}

function remove(m: Moment, table: Living): ReturnType<Happen> {
  return change(m, table, 'true', (id) => deleteRow(m.client, m.s, table, id));
}

async function refund(m: Moment, commissionId: string): Promise<void> {
  await m.client.query(
    `with voided as (
       update ${m.s}.commissions set state = 'voided', voided_at = $2, updated_at = $2 where id = $1
       returning sale_id
     )
     update ${m.s}.sales s
        set refund_amount_cents = charge_amount_cents, tax_amount_cents = 0, sale_amount_cents = 0, updated_at = $2
       from voided where s.id = voided.sale_id`,
    [commissionId, m.now],
  );
}
