// What is left of people: what is stored, what names the person, and the mode in which the mirror keeps personal data.

import { expect, test } from 'vitest';
import type { PersonalDataMode, PersonalDataSettings } from '../../../src/config/program/personal-data.ts';
import { forgetPerson } from '../../../src/mirror/people/forget-person.ts';
import { PERSONAL_COLUMNS } from '../../../src/mirror/people/personal-columns.ts';
import { createTestDatabaseIn, type TestDatabase } from '../../support/database.ts';
import { buildAffiliate, buildLink, buildReferral, buildSale } from '../build-records.ts';
import { type Mirror, useMirror } from '../mirror.ts';
import { FOR_EVER, pruneNow } from '../retention/aged-mirror.ts';
import { HASH, OMIT, PLAIN } from './marked-program.ts';

const FIRST = 'm.first@people.example';
const WAITING = 'm.second@people.example';
const MARIA = 'maria@people.example';
const OTHER = 'other@people.example';
const UNICODE = 'maria@münchen.example';
const ASCII = 'maria@xn--mnchen-3ya.example';
const CAPITALS = 'Maria@MÜNCHEN.example';

/** Identifiers end with the place by which `remains` tells records apart. */
const affiliateId = (place: number) => `a0000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
const referralId = (place: number) => `b0000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
const linkId = (place: number) => `d0000000-0000-4000-8000-${String(place).padStart(12, '0')}`;

/** Something that happens to the mirror before the person is forgotten, or after. */
type Step = (mirror: Mirror) => Promise<unknown>;

/** One sync of affiliates: each has the fields, and the name Ada Lovelace if they say no other. */
function affiliates(...several: readonly object[]): Step {
  return ({ sync }) =>
    sync('affiliates', ...several.map((fields, place) => ({ id: affiliateId(place), ...fields })));
}

/** One sync of referrals that say nothing of a person but in the fields, from this place on. */
function referralsFrom(first: number, several: readonly object[]): Step {
  const silent = { customer: null, link: null, processor_customer_id: null };
  return ({ sync }) =>
    sync('referrals', ...several.map((fields, at) => ({ id: referralId(first + at), ...silent, ...fields })));
}

const referrals = (...several: readonly object[]) => referralsFrom(0, several);

const customer = (email: string | null, name: string | null = 'Maria Name', id: string | null = null) => ({
  customer: { platform: 'stripe', id, name, email },
});

const customers = (...emails: readonly string[]) => referrals(...emails.map((email) => customer(email)));

const link = (place: number, token: string) =>
  buildLink({ id: linkId(place), token, url: `https://example.com/?via=${token}` });

/** A payment, which shows a sale: its affiliate is beside the referral, whose link does not say whose it is. */
function payment(affiliate: object, referral: object): Step {
  const shown = buildReferral({
    affiliate: undefined,
    customer: null,
    processor_customer_id: null,
    ...referral,
  });
  const sale = buildSale({ affiliate: buildAffiliate(affiliate), referral: shown });
  return ({ sync }) => sync('commissions', { sale });
}

/** A request of finance for a commission. */
function asked(reason: string, more: Readonly<Record<string, string>> = {}): Step {
  const columns = Object.entries({ reason, ...more });
  return ({ pool }) =>
    pool.query(
      `insert into commission_updates (commission_id, action, ${columns.map(([column]) => column).join()})
       values ('0b2a9f3e-6a5e-4c51-9d6a-3c1f0f6f2c11', 'unpay', ${columns.map((_, place) => `$${place + 1}`).join()})`,
      columns.map(([, value]) => value),
    );
}

/** A record that was rejected, with this as its payload. */
function rejected(payload: object, id: string | null = null): Step {
  return ({ pool }) =>
    pool.query(
      `insert into rejected_records (resource, record_id, reason, payload, observed_at)
       values ('referrals', $1, 'visits', $2, now())`,
      [id, JSON.stringify(payload)],
    );
}

const HISTORY_OF_A_DAY: Step = async ({ db, pool }) => {
  await pool.query(`update record_history set recorded_at = recorded_at - interval '9 days'`);
  await pruneNow({ pool, db }, { ...FOR_EVER, history: 1 });
};

interface Row {
  readonly what: string;
  readonly stored?: readonly Step[];
  /** What names the person: each by itself. */
  readonly named: readonly string[];
  /** Plain if left out. */
  readonly modes?: readonly PersonalDataSettings[];
  readonly later?: readonly Step[];
  /** All that says something of a person afterwards, as `remains` returns it. */
  readonly left: readonly string[] | ((mode: PersonalDataMode) => readonly string[]);
  /** Of the receipt. */
  readonly receipt?: object;
}

const NAMED = 'customer_email customer_name';
const AFFILIATE = 'email first_name last_name';
const BOTH = [PLAIN, HASH];

const THEIRS: Row[] = [
  {
    what: 'an affiliate, with each customer who has one of its addresses',
    stored: [
      affiliates({ email: FIRST }),
      affiliates({ email: MARIA, unconfirmed_email: WAITING }),
      customers(MARIA, WAITING, FIRST, OTHER),
    ],
    named: [` ${MARIA}\n`, WAITING, FIRST, ` ${affiliateId(0).toUpperCase()}\t`],
    modes: BOTH,
    left: [`referrals 3: ${NAMED}`],
    receipt: { records: { affiliates: 1, referrals: 3, links: 0 }, addresses: 3 },
  },
  {
    what: 'a customer, by the address of before too',
    stored: [customers(FIRST, FIRST, OTHER), customers(MARIA, FIRST, OTHER)],
    named: [referralId(0).toUpperCase()],
    modes: BOTH,
    left: [`referrals 2: ${NAMED}`],
    receipt: { records: { affiliates: 0, referrals: 2, links: 0 }, addresses: 2 },
  },
  ...(
    [
      ['with white space that only Unicode knows around it', `\u00a0${MARIA}\u2003`, MARIA],
      ['in another composition of its letters', 'vi\u0301rgie@people.example', 'v\u00edrgie@people.example'],
      ['in capitals beyond ASCII', 'MÄRIA@people.example', 'märia@people.example'],
    ] as const
  ).map(([how, stored, who]) => ({
    what: `an address that is stored ${how}`,
    stored: [affiliates({ email: FIRST }), affiliates({ email: stored }), customers(stored, FIRST, OTHER)],
    named: [who],
    left: [`referrals 2: ${NAMED}`],
  })),
  {
    what: 'an address with white space around it, of a customer who is named by an identifier',
    stored: [customers(` ${MARIA} `, MARIA, OTHER)],
    named: [referralId(0)],
    left: [`referrals 2: ${NAMED}`],
    receipt: { addresses: 1 },
  },
  {
    what: 'an address whose domain has two spellings, in each',
    stored: [affiliates({ email: ASCII }), customers(UNICODE, ASCII, CAPITALS, 'maria@munchen.example')],
    named: [UNICODE, ASCII],
    modes: BOTH,
    later: [referralsFrom(4, [customer(UNICODE), customer(ASCII), customer(OTHER)])],
    left: [`referrals 3: ${NAMED}`, `referrals 6: ${NAMED}`],
  },
  {
    what: 'the addresses of an affiliate to whom an address of another leads',
    stored: [
      affiliates({ email: MARIA, unconfirmed_email: WAITING }, { email: WAITING, unconfirmed_email: FIRST }),
      customers(FIRST, OTHER),
    ],
    named: [MARIA],
    left: [`referrals 1: ${NAMED}`],
  },
  {
    what: 'what is no address, such as a dash: it leads to no other customer',
    stored: [customers('n/a', 'n/a')],
    named: [referralId(0).toUpperCase()],
    left: [`referrals 1: ${NAMED}`],
    receipt: { addresses: 0 },
  },
  {
    what: 'an address to which other affiliates are or were paid: these stay',
    stored: [
      affiliates({ email: OTHER, payout_email: MARIA }, { email: WAITING, payout_email: MARIA }),
      affiliates({ email: OTHER, payout_email: '' }),
    ],
    named: [MARIA],
    later: [
      affiliates(
        { email: OTHER, payout_email: MARIA, visitors: 9 },
        { email: WAITING, payout_email: MARIA, visitors: 9 },
      ),
    ],
    left: [`affiliates 0: ${AFFILIATE}`, `affiliates 1: ${AFFILIATE}`],
  },
  {
    what: 'the totals of an affiliate: figures and currencies stay, of others all',
    stored: [0, 1].map((cents) =>
      affiliates(
        ...[MARIA, OTHER].map((email) => ({
          email,
          commission_stats: { currencies: { USD: { cents } }, note: `of ${email}` },
        })),
      ),
    ),
    named: [MARIA],
    later: [
      affiliates({ email: MARIA, commission_stats: { USD: { cents: 7 }, note: `of ${MARIA}` } }),
      async ({ rows }) =>
        expect(await rows(`select commission_stats as stats from affiliates order by id limit 1`)).toEqual([
          { stats: { USD: { cents: 7 }, note: null } },
        ]),
    ],
    left: ['after', 'before']
      .map((side) => `affiliates 1 ${side}: commission_stats`)
      .concat(`affiliates 1: commission_stats ${AFFILIATE}`),
  },
  {
    what: 'a person whose history has gaps, since it was pruned',
    stored: [
      referrals({ ...customer(FIRST, 'Maria Oldest'), conversion_state: 'lead' }),
      referrals({ ...customer(WAITING, 'Maria Between'), conversion_state: 'conversion' }),
      referrals({ ...customer(MARIA, 'Maria Current'), conversion_state: 'conversion' }),
      referrals({ ...customer(MARIA, 'Maria Current'), conversion_state: 'conversion', visits: 9 }),
      asked('Maria Oldest, Maria Between; Maria Current'),
      HISTORY_OF_A_DAY,
      async ({ rows }) =>
        expect(await rows('select from record_history where before is not null')).toHaveLength(2),
    ],
    named: [FIRST, WAITING, MARIA],
    left: ['asked: [forgotten], [forgotten]; [forgotten]'],
  },
  {
    what: 'a person whom the API anonymised, and whose last change the history keeps at any age',
    stored: [
      affiliates({ first_name: 'Maria', last_name: 'Oldest', email: FIRST }),
      affiliates({ first_name: 'Maria', last_name: 'Current', email: MARIA }),
      affiliates({ first_name: null, last_name: null, email: 'a@gone.example' }),
      HISTORY_OF_A_DAY,
      async ({ rows }) =>
        expect(
          await rows(`select before ->> 'last_name' as name from record_history where before is not null`),
        ).toEqual([{ name: 'Current' }]),
    ],
    named: [affiliateId(0), MARIA],
    left: [],
  },
];

const forgotten =
  (who: string): Step =>
  ({ forget }) =>
    forget(who);

const AGAIN: Row[] = [
  {
    what: 'records that were recognised, with what they were known by before',
    stored: [
      affiliates({ first_name: 'Elliott', last_name: 'Towne', email: FIRST }),
      referrals(customer(FIRST, 'Ellie Customer')),
      asked(`Elliott Towne, ${FIRST}, is Ellie Customer`),
      forgotten(MARIA),
      affiliates({ email: MARIA }),
      referrals(customer(MARIA)),
    ],
    named: [referralId(0), MARIA],
    left: ['asked: [forgotten], [forgotten], is [forgotten]'],
    receipt: { number: 1, records: { affiliates: 1, referrals: 1 } },
  },
  {
    what: 'a record that took a forgotten address, and was emptied at once, but for its history',
    stored: [
      affiliates({ email: OTHER, first_name: 'Elliott', last_name: 'Towne', links: [link(0, 'elliott')] }),
      asked(`Elliott Towne, ${OTHER}, is locked`),
      forgotten(MARIA),
      affiliates({ email: OTHER, unconfirmed_email: MARIA, links: [link(0, 'elliott')] }),
      async ({ rows }) =>
        expect(await rows('select first_name, email from affiliates')).toEqual([
          { first_name: null, email: null },
        ]),
    ],
    named: [MARIA],
    left: ['asked: [forgotten], [forgotten], is locked'],
    receipt: { number: 1, records: { affiliates: 1, links: 1 } },
  },
];

const FIRST_OF = { id: affiliateId(0), email: MARIA };
const OTHER_OF = { id: affiliateId(1), email: OTHER };

const COUPONS: Row[] = [
  {
    what: 'the coupon of an affiliate in the history, though it does not say whose it is',
    stored: [
      affiliates(FIRST_OF),
      ...['10', '20'].map((percent) =>
        referrals(
          { affiliate: buildAffiliate(FIRST_OF), coupon: { token: `MARIA${percent}` } },
          { coupon: { token: `OTHER${percent}` } },
        ),
      ),
    ],
    named: [MARIA],
    left: ['referrals 1 after: coupon', 'referrals 1 before: coupon', 'referrals 1: coupon'],
  },
  {
    what: 'a coupon in the history, by the affiliate of then',
    stored: [
      affiliates(FIRST_OF, OTHER_OF),
      ...[
        [FIRST_OF, OTHER_OF],
        [OTHER_OF, FIRST_OF],
      ].map((owners, time) =>
        referrals(
          ...owners.map((owner) => ({ affiliate: buildAffiliate(owner), coupon: { token: `AT${time}` } })),
        ),
      ),
    ],
    named: [MARIA],
    left: [
      `affiliates 1: ${AFFILIATE}`,
      'referrals 0 after: coupon',
      'referrals 0: coupon',
      'referrals 1 before: coupon',
    ],
  },
  {
    what: 'a coupon that says itself whose it is, on another referral',
    stored: [affiliates(FIRST_OF), referrals({ coupon: { token: 'MARIA10', affiliate_id: affiliateId(0) } })],
    named: [MARIA],
    left: [],
  },
  {
    what: 'coupons that come later, unless they say that they are of another affiliate',
    named: [MARIA],
    later: [
      referrals(
        { affiliate: buildAffiliate(OTHER_OF), coupon: { token: 'OTHER10' } },
        { coupon: { token: 'OTHER20', affiliate_id: affiliateId(1) } },
        { coupon: { token: 'MARIA10' } },
      ),
    ],
    left: [`affiliates 1: ${AFFILIATE}`, 'referrals 0: coupon', 'referrals 1: coupon'],
  },
];

const LINKS: Row[] = [
  {
    what: 'the link of a sale, by the affiliate of the sale',
    stored: [payment(FIRST_OF, { link: link(0, 'maria') }), payment(OTHER_OF, { link: link(1, 'other') })],
    named: [MARIA],
    left: [`affiliates 1: ${AFFILIATE}`, 'links 1: token url'],
  },
  {
    what: 'the link of a sale, by the affiliate of a referral that names it no longer',
    stored: [
      payment(OTHER_OF, { id: referralId(0), link: link(0, 'maria') }),
      payment(OTHER_OF, { link: link(1, 'other') }),
      referrals({ affiliate: buildAffiliate(FIRST_OF) }),
    ],
    named: [MARIA],
    left: [`affiliates 1: ${AFFILIATE}`, 'links 1: token url'],
  },
  {
    what: 'the links of an affiliate, and no link of another that a referral of the person names',
    stored: [
      affiliates(FIRST_OF, { ...OTHER_OF, links: [link(1, 'other')] }),
      referrals({ affiliate: buildAffiliate(FIRST_OF), link: link(0, 'maria') }),
      ({ pool }) => pool.query('update referrals set link_id = $1', [linkId(1)]),
    ],
    named: [MARIA],
    left: [`affiliates 1: ${AFFILIATE}`, 'links 1: token url'],
  },
];

const NEW: Row[] = [
  {
    what: 'a new affiliate with the address, whatever address it has later, and its links',
    named: [MARIA],
    modes: BOTH,
    later: [
      affiliates({ ...FIRST_OF, links: [link(0, 'maria')] }),
      affiliates({ ...FIRST_OF, email: OTHER, links: [link(0, 'maria'), link(1, 'maria1')] }),
      referrals({ affiliate: buildAffiliate({ ...FIRST_OF, email: OTHER }), link: link(2, 'maria2') }),
    ],
    left: [],
  },
  {
    what: 'a new affiliate who has not confirmed the address yet',
    named: [MARIA],
    later: [affiliates({ email: OTHER, unconfirmed_email: MARIA })],
    left: [],
  },
  {
    what: 'a link that a payment shows first, or later',
    named: [MARIA],
    modes: BOTH,
    later: [
      affiliates({ ...FIRST_OF, links: [link(0, 'maria')] }),
      payment(FIRST_OF, { link: link(1, 'maria1') }),
      payment(FIRST_OF, { link: link(0, 'maria0') }),
      referrals({ affiliate: buildAffiliate(OTHER_OF), link: link(0, 'maria0') }),
    ],
    left: [`affiliates 1: ${AFFILIATE}`],
  },
  {
    what: 'the links of others: stored once their affiliate shows them',
    named: [MARIA],
    later: [
      payment(OTHER_OF, { link: link(0, 'a'), id: referralId(0) }),
      payment(OTHER_OF, { link: link(1, 'b'), id: referralId(1) }),
      affiliates({}, { ...OTHER_OF, links: [link(1, 'b')] }),
      // And a payment does not take it away again.
      payment(OTHER_OF, { link: link(1, 'b'), id: referralId(1) }),
    ],
    left: [
      `affiliates 0: ${AFFILIATE}`,
      `affiliates 1: ${AFFILIATE}`,
      'links 1 after: token url',
      'links 1: token url',
    ],
  },
  {
    what: 'a new customer with the address, whatever address it has later',
    named: [MARIA],
    modes: BOTH,
    later: [customers(MARIA), customers(OTHER)],
    left: [],
  },
  {
    what: 'the hidden address after a switch to omit and back',
    named: [MARIA],
    later: [({ switchTo }) => switchTo(OMIT), ({ switchTo }) => switchTo(PLAIN), customers(MARIA)],
    left: [],
  },
];

/** Of the person a number as identifier, one of the payment processor, and one of a platform of its own. */
const CUSTOMERS: Row[] = ['cus_Nffrze3uQqUd7u', 'C0000000-0000-4000-8000-00000000000C', '42'].map((who) => {
  const referral = (email: string, id: string, processor_customer_id: string | null = null) => ({
    ...customer(email, 'Maria Name', id),
    processor_customer_id,
  });
  return {
    what: `the customer ${who}, with the addresses of its referrals`,
    stored: [
      affiliates({ email: MARIA, processor_customer_id: who }),
      referrals(
        referral(FIRST, who),
        referral(WAITING, 'cus_before', who),
        referral('m.third@people.example', who),
        referral(FIRST, 'cus_other'),
        referral(OTHER, 'cus_other'),
      ),
      // Another customer by now.
      referralsFrom(2, [referral('m.third@people.example', 'cus_later')]),
    ],
    named: [who],
    modes: [PLAIN, HASH, OMIT],
    later: [
      referralsFrom(5, [referral('new@people.example', who), referral('new@people.example', 'cus_new')]),
      affiliates({}, { email: 'new@people.example', processor_customer_id: who }),
    ],
    left: (mode) =>
      mode === 'omit'
        ? // In no mode that keeps no address does one lead on.
          [3, 4, 6].map((place) => `referrals ${place}: customer_id`)
        : [4, 6].map((place) => `referrals ${place}: customer_email customer_id customer_name`),
  } satisfies Row;
});

/** As others may have written the address into a field that the contract does not know. */
const NOTES = [
  `Contact:\n${MARIA}`,
  `Contact:\t${MARIA}`,
  `Wrote to ${MARIA}.`,
  `Wrote to ${MARIA}!`,
  `https://shop.example/?email=${MARIA}&plan=1`,
  `mailto:${MARIA}?subject=hello`,
  `https://shop.example/#${MARIA}`,
  `**${MARIA}**`,
  `Contact|${MARIA}|`,
  // What Rails makes of angle brackets; as records without an identifier the two differ in capitals alone.
  `Written by \\u003c${MARIA}\\u003e`,
  `Written by \\u003C${MARIA}\\u003E`,
];

const MENTIONS: Row[] = [
  {
    what: 'the address where others are noted with it, in each way of NOTES',
    stored: [referrals(...NOTES.map((note) => ({ note }))), ...NOTES.map((note) => rejected({ note }))],
    named: [MARIA],
    later: [referrals({}, ...NOTES.flatMap((note) => [{ note }, { note, visits: 'many' }]))],
    left: [],
  },
  {
    what: 'the address of a person whose domain has two spellings, in each',
    stored: [referrals({ note: `To ${UNICODE}.` }, { note: `To ${ASCII}.` }, { note: `To ${CAPITALS}.` })],
    named: [UNICODE, ASCII],
    later: [
      referrals(
        { note: `For ${UNICODE}.`, visits: 9 },
        { note: `For ${ASCII}.`, visits: 9 },
        { note: `For ${CAPITALS}.`, visits: 9 },
      ),
    ],
    left: [],
  },
  {
    what: 'no longer address, which is another one',
    stored: [
      referrals({ note: `x.${MARIA}, ann+${MARIA}; ${MARIA}.au, ${MARIA}-x` }),
      asked(`x.${MARIA}, ${MARIA}.au`),
    ],
    named: [MARIA],
    left: [`asked: x.${MARIA}, ${MARIA}.au`, 'referrals 0: _extra'],
  },
  {
    what: 'rejected records that name the person: by address, by each identifier, or by name',
    stored: [
      affiliates({ ...FIRST_OF, links: [link(0, 'maria')] }),
      customers(MARIA),
      rejected({ note: 'Maria' }, referralId(9)),
      rejected({}, referralId(0)),
      ...[
        { note: MARIA },
        { affiliate: { id: affiliateId(0).toUpperCase() } },
        { referral: referralId(0) },
        { link: { id: linkId(0) } },
        { customer: { name: 'maria NAME' } },
      ].map((payload) => rejected(payload)),
    ],
    named: [MARIA],
    left: ['rejected: {"note":"Maria"}'],
    receipt: {
      counts: new Map([
        ['affiliates', 1],
        ['links', 1],
        ['referrals', 1],
        ['rejected_records', 6],
      ]),
    },
  },
  {
    what: 'what names the person later by the identifier of a record',
    stored: [affiliates({ ...FIRST_OF, links: [link(0, 'maria')] }), customers(MARIA)],
    named: [MARIA],
    later: [
      referrals(
        {},
        ...[affiliateId(0), referralId(0), linkId(0).toUpperCase()].flatMap((id) => [
          { note: `like ${id}` },
          { note: `like ${id}`, visits: 'many' },
        ]),
      ),
    ],
    left: [],
  },
];

const TEXTS: Row[] = [
  {
    what: 'the names of a customer, with those of before',
    stored: [
      ...['Oldest', 'Older', 'Newname'].map((name) => referrals(customer(MARIA, `Maria ${name}`))),
      asked('Maria Oldest disputes, then maria older; now Maria Newname and Maria Other'),
    ],
    named: [MARIA],
    left: ['asked: [forgotten] disputes, then [forgotten]; now [forgotten] and Maria Other'],
  },
  {
    what: 'each first name of an affiliate with each last name',
    stored: [
      ...[
        ['Ann', 'Oldname'],
        ['Ann', 'Middle'],
        ['Maria', 'Middle'],
        ['Maria', null],
      ].map(([first_name, last_name]) => affiliates({ first_name, last_name, email: MARIA })),
      asked('Ann Oldname, Ann Middle, maria middle; Maria Oldname and Ann'),
    ],
    named: [MARIA],
    left: ['asked: [forgotten], [forgotten], [forgotten]; [forgotten] and Ann'],
  },
  {
    what: 'names with the last name first, but no first or last name alone',
    stored: [
      affiliates({ first_name: 'Rodney', last_name: 'Schmeler', email: MARIA }),
      referrals(customer(MARIA, 'Anna Maria Vries')),
      asked('Schmeler, Rodney; schmeler,rodney; Vries, Anna  Maria; Schmeler; Vries, Rodney; Rodney'),
    ],
    named: [MARIA],
    left: ['asked: [forgotten]; [forgotten]; [forgotten]; Schmeler; Vries, Rodney; Rodney'],
  },
  {
    what: 'a name of any characters',
    stored: [referrals(customer(MARIA, "O'Neil (Sr.) +1 [x] $2")), asked("for O'Neil (Sr.) +1 [x] $2!")],
    named: [MARIA],
    left: ['asked: for [forgotten]!'],
  },
  {
    what: 'an affiliate in texts, by its identifier and each of its addresses',
    stored: [
      affiliates({ email: FIRST }),
      affiliates({ email: FIRST, unconfirmed_email: WAITING.toUpperCase() }),
      affiliates({ email: MARIA }),
      asked(`${FIRST}, ${WAITING}; ${MARIA}; ${affiliateId(0)}`),
    ],
    named: [MARIA, FIRST, WAITING, affiliateId(0)],
    left: ['asked: [forgotten], [forgotten]; [forgotten]; [forgotten]'],
  },
  {
    what: 'no identifier of a customer in texts, where a number may be any',
    stored: [referrals(customer(MARIA, 'Maria Name', '42')), asked(`invoice 42 of ${MARIA}`)],
    named: ['42'],
    left: ['asked: invoice 42 of [forgotten]'],
  },
  {
    what: 'what people wrote, and the reason of a refusal',
    stored: [
      asked(`by ${MARIA}`, { batch_id: `payout of ${MARIA}` }),
      ({ pool }) =>
        pool.query(`update commission_updates
          set state = 'rejected', finished_at = now(), outcome = 'rejected (422): no ${MARIA}'`),
    ],
    named: [MARIA],
    left: ['asked: by [forgotten] payout of [forgotten] rejected (422): no [forgotten]'],
    receipt: { counts: new Map([['commission_updates', 1]]), notRewritten: [] },
  },
  {
    what: 'not what keeps a payment from being made twice, which the receipt names',
    stored: [asked('', { idempotency_key: `key of ${MARIA}`, requested_by: `finance of ${MARIA}` })],
    named: [MARIA],
    // The same request again: it is recognised by its key.
    later: [asked('', { idempotency_key: `key of ${MARIA}`, requested_by: `finance of ${MARIA}` })],
    left: ['asked: '],
    receipt: {
      notRewritten: ['idempotency_key', 'requested_by'].map((column) => ({
        table: 'commission_updates',
        column,
        rows: 1,
      })),
    },
  },
];

const mirror = useMirror();

/** Returns the columns of each row, and of each side of its changes, that say something of a person, and the texts. */
async function remains(): Promise<string[]> {
  const columns = Object.fromEntries(
    Object.entries(PERSONAL_COLUMNS).map(([table, kinds]) => [table, { ...kinds, _extra: 'text' }]),
  );
  const stored = Object.keys(columns).map(
    (name) => `select '${name}' as name, id, '' as side, to_jsonb(kept) as fields from ${name} kept`,
  );
  const rows = await mirror().rows(
    `with sides as (
       ${stored.join(' union all ')}
       union all select table_name, record_id, ' before', before from record_history where before is not null
       union all select table_name, record_id, ' after', after from record_history where after is not null
     )
     select name || ' ' || right(id, 1) || side || ': ' || string_agg(distinct key, ' ' order by key) as line
     from sides cross join lateral jsonb_each(fields) cross join lateral (select $1::jsonb -> name ->> key as kind) about
     where kind is not null and value not in ('null', '""') and case kind
       when 'coupon' then coalesce(value ->> 'token', value ->> 'external_id') is not null
       when 'figures' then value::text ~ '@'
       else true end
     group by name, id, side
     union all
     select concat_ws(' ', 'asked: ' || reason, batch_id, outcome) from commission_updates
     union all
     select 'rejected: ' || payload::text from rejected_records where payload -> 'left_out' is null
     order by 1`,
    [JSON.stringify(columns)],
  );
  return rows.map(({ line }) => String(line)).sort();
}

test.each(
  [...THEIRS, ...AGAIN, ...COUPONS, ...LINKS, ...NEW, ...CUSTOMERS, ...MENTIONS, ...TEXTS].flatMap((row) =>
    (row.modes ?? [PLAIN]).flatMap((settings) =>
      row.named.map((who) => ({ ...row, who, mode: settings.mode, settings })),
    ),
  ),
)('forgotten by $who in mode $mode: $what', async ({ stored = [], who, settings, later = [], ...row }) => {
  const { switchTo, forget } = mirror();
  await switchTo(settings);
  for (const step of stored) await step(mirror());
  const forgotten = await forget(who);
  if (row.receipt !== undefined) expect(forgotten).toMatchObject(row.receipt);
  // Nothing is left that a second time would find.
  const again = await forget(who);
  expect(again).toMatchObject({ number: forgotten.number, records: forgotten.records, counts: new Map() });
  for (const step of later) await step(mirror());
  expect(await remains()).toEqual(typeof row.left === 'function' ? row.left(settings.mode) : row.left);
});

test.each([
  `Maria ${MARIA}`,
  `${MARIA}, ${FIRST}`,
  'n/a',
  'cus_unknown',
  'CUS_1',
  '00000000-0000-4000-8000-000000000009',
])('%j is neither an address nor known as an identifier: it is refused', async (who) => {
  const { sync, forget, rows } = mirror();
  await sync('referrals', customer('n/a', 'Maria Name', 'cus_1'));
  await expect(forget(who)).rejects.toThrow(
    `${who} is neither an e-mail address nor the identifier of an affiliate, a referral or a customer in the mirror`,
  );
  expect(await rows('select from forgotten_people')).toEqual([]);
  expect(await rows('select customer_name, customer_id from referrals')).toEqual([
    { customer_name: 'Maria Name', customer_id: 'cus_1' },
  ]);
});

test('afterwards the ledger refuses what it refused before, and the history goes on', async () => {
  const { pool, sync, forget, rows } = mirror();
  await sync('affiliates', { ...OTHER_OF, first_name: 'Ann' });
  await asked(`by ${MARIA}`)(mirror());
  await forget(MARIA);
  await expect(pool.query(`update commission_updates set reason = 'another'`)).rejects.toThrow(
    'is part of the payment ledger: what was asked for is never edited',
  );
  await sync('affiliates', { ...OTHER_OF, first_name: 'Zoe' });
  expect(
    await rows(`select before ->> 'first_name' as before, after ->> 'first_name' as after
      from record_history where before is not null`),
  ).toEqual([{ before: 'Ann', after: 'Zoe' }]);
});

test('it is noted who forgot, and under a hash that another mirror does not have', async () => {
  const hashOf = async ({ pool }: TestDatabase) =>
    (
      await pool.query(
        'select number::int, forgotten_by, address_hash from forgotten_people join forgotten_addresses using (number)',
      )
    ).rows;
  // Migrated on its own: the other test databases are copies of one.
  const other = await createTestDatabaseIn('en');
  await forgetPerson(other.db, PLAIN, { who: MARIA, by: 'privacy' });
  await mirror().forget(MARIA);
  const [[own], [others]] = [await hashOf(mirror()), await hashOf(other)];
  expect(own).toEqual({ number: 1, forgotten_by: 'privacy', address_hash: expect.any(String) });
  expect(own.address_hash).not.toBe(others.address_hash);
});
