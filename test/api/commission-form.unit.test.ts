import { describe, expect, it } from 'vitest';
import { commissionForm } from '../../src/api/commission-form.ts';

describe('the form of a commission’s change', () => {
  it('sends a timestamp form-encoded, and only what was named', () => {
    expect(commissionForm({ paid_at: '2026-03-01T12:00:00+01:00' })).toBe(
      'paid_at=2026-03-01T12%3A00%3A00%2B01%3A00',
    );
    expect(commissionForm({ due_at: '2026-03-01T12:00:00Z' })).toBe('due_at=2026-03-01T12%3A00%3A00Z');
  });

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
