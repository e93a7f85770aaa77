import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
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

  it.each([
    '5xx',
    '5xx=',
    '5xx=2',
    '5xx=-0.1',
    '5xx=a',
    '5xx=0.1=2',
    'boom=0.1',
    '=0.1',
    'toString=0.1',
    '5xx=1.5',
  ])('%s is refused, and the refusal lists the kinds', (text) => {
    const parse = () => parseFaultPlan([text]);
    expect(parse).toThrow(ConfigError);
    for (const kind of Object.keys(FAULT_KINDS)) expect(parse).toThrow(kind);
  });

  it('names every problem at once: malformed texts, a kind given twice, a sum above 1', () => {
    const parse = () => parseFaultPlan(['x=1', 'y=1', '5xx=0.6', '5xx=0.1', 'reset=0.6']);
    expect(parse).toThrow(/--fault x=1 [\s\S]*--fault y=1 [\s\S]*5xx is given twice[\s\S]*1\.2: more than 1/);
  });

  it('takes shares that add up to 1, also where floating point adds a little more', () => {
    expect(0.33 + 0.56 + 0.11).toBeGreaterThan(1);
    expect(() => parseFaultPlan(['5xx=0.33', 'reset=0.56', 'stall=0.11'])).not.toThrow();
  });

  it('reads every kind that it lists', () => {
    const kinds = Object.keys(FAULT_KINDS);
    const plan = parseFaultPlan(kinds.map((kind) => `${kind}=0.05`));
    expect(Object.keys(plan.shares).sort()).toEqual(kinds.sort());
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

  it('spoils the share that it was asked to', () => {
    const faults = draw(3, { '5xx': 0.2, reset: 0.1 });
    const share = (kind: string | null) => faults.filter((fault) => fault === kind).length / faults.length;
    expect(share('5xx')).toBeCloseTo(0.2, 1);
    expect(share('reset')).toBeCloseTo(0.1, 1);
    expect(share(null)).toBeCloseTo(0.7, 1);
    expect(new Set(draw(3, { stall: 1 }))).toEqual(new Set(['stall']));
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
    expect([referrals(), choose('GET', '/v1/affiliates'), referrals(), referrals(), referrals()]).toEqual([
      null,
      null,
      'reset',
      'reset',
      null,
    ]);
    expect(choose('GET', '/v1/commissions/1')).toBeNull();
    expect(choose('PUT', '/v1/commissions/1')).toBe('stall');
    expect(choose('PUT', '/v1/commissions/1')).toBeNull();
  });

  it('a route is a path or one above it, not a prefix of its letters', () => {
    const choose = makeChooseFault({ shares: {}, exact: [{ kind: 'cut', times: 9, route: '/v1/ref' }] }, 1);
    expect(choose('GET', '/v1/referrals')).toBeNull();
    expect(choose('GET', '/v1/ref/1')).toBe('cut');
  });

  it('two demands for the same requests strike one after the other', () => {
    const choose = makeChooseFault({ shares: {}, exact: [{ kind: 'reset' }, { kind: '5xx' }] }, 1);
    expect([choose('GET', '/'), choose('GET', '/'), choose('GET', '/')]).toEqual(['reset', '5xx', null]);
  });
});
