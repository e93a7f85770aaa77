import { describe, expect, it } from 'vitest';
import { commissionForm, listQueryString } from '../../src/api/request-parameters.ts';

describe('the query string of a list', () => {
  it('names page and limit, and nothing that was not asked for', () => {
    expect(listQueryString<'affiliates'>({ page: 3, limit: 100 })).toBe('page=3&limit=100');
  });

  it('spells one expansion as name=a and several as name[]=a', () => {
    expect(listQueryString<'affiliates'>({ page: 1, limit: 25, expand: ['links'] })).toBe(
      'page=1&limit=25&expand=links',
    );
    expect(
      listQueryString<'affiliates'>({
        page: 1,
        limit: 25,
        expand: ['campaign', 'links', 'commission_stats'],
      }),
    ).toBe('page=1&limit=25&expand[]=campaign&expand[]=links&expand[]=commission_stats');
  });

  it('spells a filter of several values in the array form and of one value in the short form', () => {
    const query = (conversion_state: string | readonly string[]) =>
      listQueryString<'referrals'>({ page: 1, limit: 25, filters: { conversion_state } });
    expect(query(['lead', 'visitor'])).toBe(
      'page=1&limit=25&conversion_state[]=lead&conversion_state[]=visitor',
    );
    expect(query(['lead'])).toBe('page=1&limit=25&conversion_state=lead');
    expect(query('lead')).toBe('page=1&limit=25&conversion_state=lead');
  });

  it('combines filters and encodes what an address cannot hold', () => {
    const filters = { email: 'jo+a&b=c@ex ample.com', stripe_customer_id: 'cus_ü#1' };
    const query = listQueryString<'affiliates'>({ page: 1, limit: 1, filters });
    expect(query).toBe(
      'page=1&limit=1&email=jo%2Ba%26b%3Dc%40ex%20ample.com&stripe_customer_id=cus_%C3%BC%231',
    );
    expect(new URLSearchParams(query).get('email')).toBe(filters.email);
    expect(new URLSearchParams(query).get('stripe_customer_id')).toBe(filters.stripe_customer_id);
  });

  it('refuses a filter without a value, which would ask for everything', () => {
    expect(() =>
      listQueryString<'referrals'>({ page: 1, limit: 25, filters: { conversion_state: [] } }),
    ).toThrow(TypeError);
  });
});

describe('the form of a commission’s change', () => {
  it('sends an empty paid_at for null, which marks the commission unpaid', () => {
    expect(commissionForm({ paid_at: null })).toBe('paid_at=');
    expect(commissionForm({ paid_at: null, due_at: '2026-03-01T12:00:00Z' })).toBe(
      'paid_at=&due_at=2026-03-01T12%3A00%3A00Z',
    );
  });

  it.each([{ paid_at: '' }, { paid_at: ' \t' }, { due_at: '' }])(
    'refuses the blank text in %j: only null may clear a payment',
    (change) => {
      expect(() => commissionForm(change)).toThrow(TypeError);
    },
  );

  it('refuses a change of nothing', () => {
    expect(() => commissionForm({})).toThrow(TypeError);
  });
});
