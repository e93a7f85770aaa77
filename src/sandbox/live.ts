// Lets time pass in the program: one small event after the other, at a steady rate or when a test asks for the next
// one. What happens how often is here; how a record changes is in program.ts.

import type { Logger } from '../log.ts';
import { deleteRow, updateRow } from './data.ts';
import { inventCustomer } from './invent.ts';
import { addAffiliate, addReferral, addSale, type Moment, type Program, pickId } from './program.ts';

export interface LiveOptions {
  /** How many events happen in a second. */
  readonly eventsPerSecond: number;
}

export interface LiveEvent {
  readonly kind: LiveEventKind;
  /** The id of the record that it happened to. */
  readonly id: string;
}

export interface Live {
  /** Returns the event that happened; the same for the same seed, program and number of steps before. */
  step(): Promise<LiveEvent>;
  /** Stops the clock; the event under way is over when this resolves. */
  stop(): Promise<void>;
}

type Happen = (m: Moment) => Promise<string | undefined>;

const state = (name: string) => `conversion_state = '${name}'`;

/** What happens, how often in a hundred events, and to whom; undefined where there is nobody it could happen to. */
const EVENTS = {
  visit: [40, comeByLink],
  visit_again: [15, (m) => update(m, 'referrals', 'true', 'visits = visits + 1')],
  lead: [
    15,
    // Where there are no visitors, a referral begins as a lead.
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

export type LiveEventKind = keyof typeof EVENTS;

/** Every kind of event, for tests that wait for all of them. */
export const LIVE_EVENT_KINDS = Object.keys(EVENTS) as LiveEventKind[];

/** Returns the steps of the program; without options nothing happens except by `step`. */
export function makeLive(deps: { program: Program; log: Logger }, options: LiveOptions | null): Live {
  const { program, log } = deps;
  const step = () => program.moment(happenSomething);
  let underWay: Promise<unknown> = Promise.resolve();
  let isBusy = false;

  const tick = () => {
    // Where the database is slower than the rate, events are left out instead of piling up.
    if (isBusy) return;
    isBusy = true;
    underWay = step()
      .then(({ kind, id }) => log.debug({ kind, id }, 'sandbox.changed'))
      .catch((error: unknown) => log.error({ err: error }, 'sandbox.change_failed'))
      .finally(() => {
        isBusy = false;
      });
  };
  const timer = options === null ? undefined : setInterval(tick, 1000 / options.eventsPerSecond);
  return {
    step,
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

async function happenSomething(m: Moment): Promise<LiveEvent> {
  let draw = m.randomness.next() * 100;
  for (const kind of LIVE_EVENT_KINDS) {
    const [weight, happen] = EVENTS[kind];
    if (draw < weight) {
      const id = await happen(m);
      if (id !== undefined) return { kind, id };
      break;
    }
    draw -= weight;
  }
  // There was no record for it to happen to, so an affiliate joins.
  return { kind: 'affiliate_joins', id: (await addAffiliate(m)).id };
}

async function comeByLink(m: Moment): Promise<string | undefined> {
  return (await pickId(m, 'affiliates')) ? (await addReferral(m)).id : undefined;
}

type Living = 'affiliates' | 'referrals' | 'commissions';

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
