import { describe, expect, it } from 'vitest';
import { affiliateSchema } from '../../src/contract/affiliate.ts';
import { errorBodySchema, listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { commissionSchema } from '../../src/contract/commission.ts';
import { identifier, integer, timestamp } from '../../src/contract/fields.ts';
import { referralSchema } from '../../src/contract/referral.ts';
import { RESOURCES } from '../../src/contract/resources.ts';

const identity = {
  id: '0b1a6d1e-3f9c-4a58-9b7a-0d3f3b1c2d4e',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-02T00:00:00.000Z',
};
const commission = { ...identity, amount: 100, currency: 'USD', paid_at: null };

describe('a record', () => {
  it('is accepted with its identity alone, since any other field may be absent', () => {
    expect(affiliateSchema.parse(identity)).toEqual(identity);
    expect(referralSchema.parse(identity)).toEqual(identity);
    for (const field of ['id', 'created_at', 'updated_at'] as const) {
      const { [field]: _, ...rest } = identity;
      expect(affiliateSchema.safeParse(rest).success, field).toBe(false);
    }
  });

  it('keeps the fields that the contract does not know, at every depth', () => {
    const record = {
      ...identity,
      odd: [1],
      link: { id: identity.id, odd: { a: null } },
      customer: { odd: 1 },
    };
    expect(referralSchema.parse(record)).toEqual(record);
  });

  it('may have a null wherever the contract or the wild shows one', () => {
    const visitor = {
      ...identity,
      customer: null,
      link: null,
      deactivated_at: null,
      conversion_state: 'visitor',
    };
    expect(referralSchema.parse(visitor)).toEqual(visitor);
    const affiliate = {
      ...identity,
      unconfirmed_email: null,
      processor_customer_id: null,
      processor_account_id: null,
      confirmed_at: null,
      commission_stats: null,
    };
    expect(affiliateSchema.parse(affiliate)).toEqual(affiliate);
    expect(commissionSchema.parse(commission)).toEqual(commission);
  });

  it('may hold any value of an open set', () => {
    expect(referralSchema.parse({ ...identity, conversion_state: 'anything new' })).toBeDefined();
    expect(affiliateSchema.parse({ ...identity, state: 'anything new' })).toBeDefined();
    expect(commissionSchema.parse({ ...commission, state: 'anything new' })).toBeDefined();
  });

  it.each([
    [RESOURCES.affiliates, { email: null }],
    [RESOURCES.affiliates, { sign_in_count: '3' }],
    [RESOURCES.affiliates, { visitors: 1.5 }],
    [RESOURCES.affiliates, { receive_new_commission_notifications: 'yes' }],
    [RESOURCES.affiliates, { links: {} }],
    [RESOURCES.affiliates, { confirmed_at: '' }],
    [RESOURCES.affiliates, { id: 17 }],
    [RESOURCES.referrals, { conversion_state: null }],
    [RESOURCES.referrals, { visits: null }],
    [RESOURCES.referrals, { link: { id: 'not-a-uuid' } }],
    [RESOURCES.referrals, { affiliate: { ...identity, email: 5 } }],
    [RESOURCES.referrals, { expires_at: 'tomorrow' }],
    [RESOURCES.commissions, { amount: '100' }],
    [RESOURCES.commissions, { paid_at: '' }],
    [RESOURCES.commissions, { paid_at: undefined }],
    [RESOURCES.commissions, { currency: null }],
    [RESOURCES.commissions, { sale: { ...identity, charge_amount_cents: 9.99 } }],
  ])('of $path is refused with $1', (resource, wrong) => {
    const right = resource === RESOURCES.commissions ? commission : identity;
    expect(resource.schema.safeParse(right).success).toBe(true);
    const result = resource.schema.safeParse({ ...right, ...wrong });
    expect(result.success).toBe(false);
    expect(result.error?.issues[0]?.path[0]).toBe(Object.keys(wrong)[0]);
  });
});

describe('a value', () => {
  it.each(['0B1A6D1E-3F9C-4A58-9B7A-0D3F3B1C2D4E', '00000000-0000-0000-0000-000000000001'])(
    '%s is an identifier, of whatever version',
    (value) => {
      expect(identifier.parse(value)).toBe(value);
    },
  );

  it.each([
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.123456+05:30',
    '0001-01-01T00:00:00-08:00',
    '2026-01-31T09:30:00.000+0000',
    '2026-01-31T09:30+0000',
    '2026-01-31T09:30Z',
    '2026-01-31T09:30-08',
  ])('%s is a timestamp, kept as it was written', (value) => {
    expect(timestamp.parse(value)).toBe(value);
  });

  it.each([
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '2026-01-01T00:00:00+23:00',
    '2026-01-01T00:00:00+1600',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T24:00Z',
    '2026-01-01T09Z',
    '2026-01-01 09:30:00Z',
    '2026-01-01T09:30:00.Z',
    1767225600,
  ])('%s is not a timestamp', (value) => {
    expect(timestamp.safeParse(value).success).toBe(false);
  });

  it('is no integer where JavaScript would distort it', () => {
    expect(integer.safeParse(Number.MAX_SAFE_INTEGER).success).toBe(true);
    expect(integer.safeParse(Number.MAX_SAFE_INTEGER + 1).success).toBe(false);
  });
});

describe('the list envelope', () => {
  const pagination = {
    previous_page: null,
    current_page: 1,
    next_page: 2,
    count: 1,
    limit: 1,
    total_pages: 3,
    total_count: 3,
  };

  it('holds records unchecked', () => {
    expect(listEnvelopeSchema.parse({ pagination, data: [null, 7, {}] }).data).toEqual([null, 7, {}]);
  });

  it.each(Object.keys(pagination))('is none without pagination.%s', (field) => {
    const { [field as keyof typeof pagination]: _, ...rest } = pagination;
    expect(listEnvelopeSchema.safeParse({ pagination: rest, data: [] }).success).toBe(false);
  });

  it.each([{ data: [] }, { pagination }, { pagination, data: {} }, [], null, { error: 'x' }])(
    'is not %j',
    (body) => {
      expect(listEnvelopeSchema.safeParse(body).success).toBe(false);
    },
  );
});

describe('an error body', () => {
  it('has an error, and details where there are several problems', () => {
    expect(errorBodySchema.safeParse({ error: 'x' }).success).toBe(true);
    expect(errorBodySchema.safeParse({ error: 'x', details: ['a', 'b'] }).success).toBe(true);
    expect(errorBodySchema.safeParse({ error: {} }).success).toBe(false);
    expect(errorBodySchema.safeParse({ error: 'x', details: 'a' }).success).toBe(false);
  });
});

describe('the registry', () => {
  it('names each resource as its path does', () => {
    for (const [key, resource] of Object.entries(RESOURCES)) {
      expect(resource).toMatchObject({ path: `/v1/${key}` });
    }
  });
});
