import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/errors.ts';
import { FAULT_KINDS, makeChooseFault, NO_FAULTS, parseFaultPlan } from '../../src/sandbox/fault-plan.ts';

describe('--fault', () => {
  it('reads kinds and shares', () => {
    expect(parseFaultPlan(['5xx=0.05', 'reset=.02', 'cut=0'])).toEqual({
      shares: { '5xx': 0.05, reset: 0.02, cut: 0 },
      exact: [],
    });
    expect(parseFaultPlan(['429=1'])).toEqual({ shares: { 429: 1 }, exact: [] });
    expect(parseFaultPlan([])).toEqual(NO_FAULTS);
  });

  it.each(['5xx', '5xx=', '5xx=1.5', '5xx=-0.1', '5xx=0.1=2', 'toString=0.1'])(
    '%s is refused, and the refusal lists the kinds',
    (text) => {
      const parse = () => parseFaultPlan([text]);
      expect(parse).toThrow(ConfigError);
      for (const kind of Object.keys(FAULT_KINDS)) expect(parse).toThrow(kind);
    },
  );

  it('names every problem at once: malformed texts, a kind given twice, a sum above 1', () => {
    const parse = () => parseFaultPlan(['x=1', 'y=1', '5xx=0.6', '5xx=0.1', 'reset=0.6']);
    expect(parse).toThrow(/--fault x=1 [\s\S]*--fault y=1 [\s\S]*5xx is given twice[\s\S]*1\.2: more than 1/);
  });
});

describe('The choice of faults', () => {
  const draw = (seed: number, shares: Record<string, number>, count = 5_000) => {
    const choose = makeChooseFault({ shares, exact: [] }, seed);
    return Array.from({ length: count }, () => choose('GET', '/v1/referrals'));
  };

  it('spoils the same requests for the same seed, and others for another', () => {
    const shares = { '5xx': 0.05, reset: 0.02 };
    expect(draw(1, shares)).toEqual(draw(1, shares));
    expect(draw(1, shares)).not.toEqual(draw(2, shares));
  });

  it('strikes exactly the requests that a test demands', () => {
    const choose = makeChooseFault(
      {
        shares: {},
        exact: [
          { kind: 'reset', after: 1, times: 2, route: '/v1/referrals' },
          { kind: 'stall', method: 'PUT', route: '/v1/commissions' },
        ],
      },
      1,
    );
    const referrals = () => choose('GET', '/v1/referrals');
    expect(referrals()).toBeNull();
    expect(choose('GET', '/v1/affiliates')).toBeNull();
    expect([referrals(), referrals(), referrals()]).toEqual(['reset', 'reset', null]);
    expect(choose('GET', '/v1/commissions/1')).toBeNull();
    expect(choose('PUT', '/v1/commissions/1')).toBe('stall');
    expect(choose('PUT', '/v1/commissions/1')).toBeNull();
  });
});
