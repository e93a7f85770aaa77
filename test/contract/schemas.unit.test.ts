import { describe, expect, it } from 'vitest';
import { affiliateSchema } from '../../src/contract/affiliate.ts';
import { listEnvelopeSchema } from '../../src/contract/answer-bodies.ts';
import { integer } from '../../src/contract/fields.ts';
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

  it.each([
    [RESOURCES.affiliates, { sign_in_count: '3' }],
    [RESOURCES.affiliates, { links: {} }],
    [RESOURCES.referrals, { conversion_state: null }],
    [RESOURCES.referrals, { link: { id: 'not-a-uuid' } }],
    [RESOURCES.referrals, { affiliate: { ...identity, email: 5 } }],
    [RESOURCES.commissions, { amount: '100' }],
    [RESOURCES.commissions, { paid_at: '' }],
    [RESOURCES.commissions, { paid_at: undefined }],
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
