// When an alert opens and when it is resolved: by what is seen, for how long, and by what nobody can say.

import { describe, expect, test } from 'vitest';
import { decide, type KnownAlert } from '../../../src/observe/alerts/decide.ts';
import type { Cause, Findings } from '../../../src/observe/alerts/rules.ts';
import { type AlertCode, RULES } from '../../../src/observe/alerts/rules.ts';

const NOTHING = { notice: [], open: [], forget: [], markWell: [], markWrong: [], resolve: [] };

function causeOf(code: AlertCode, resource: string | null = null): Cause {
  const fix = 'affiliate-mirror doctor';
  return { code, resource, what: 'it is wrong', fix, error_code: null, since: null };
}

function known(code: string, more: Partial<KnownAlert> = {}): KnownAlert {
  return { id: 1, code, resource: null, is_open: true, noticed_seconds: 0, well_seconds: null, ...more };
}

const findings = (causes: readonly Cause[], isUndecided = false): Findings => ({
  causes,
  isUndecided: () => isUndecided,
});
const WELL = findings([]);

describe.each(Object.keys(RULES) as AlertCode[])('%s', (code) => {
  const { opensAfterSeconds, closesAfterSeconds } = RULES[code];
  const cause = causeOf(code);
  const wrong = findings([cause]);

  test('opens once it has held for long enough, and once', () => {
    const isToOpen = opensAfterSeconds === 0;
    expect(decide([], wrong)).toEqual({ ...NOTHING, notice: [{ cause, isToOpen }] });
    expect(decide([known(code, { noticed_seconds: 1e6 })], wrong)).toEqual(NOTHING);
    if (isToOpen) return;
    const early = known(code, { is_open: false, noticed_seconds: opensAfterSeconds - 1 });
    expect(decide([early], wrong)).toEqual(NOTHING);
    expect(decide([early], WELL), 'well before that').toEqual({ ...NOTHING, forget: [1] });
    const late = known(code, { is_open: false, noticed_seconds: opensAfterSeconds });
    expect(decide([late], wrong)).toEqual({ ...NOTHING, open: [{ id: 1, cause }] });
  });

  test('is resolved once it was well for long enough', () => {
    const resolved = { ...NOTHING, resolve: [1] };
    if (closesAfterSeconds === 0) return expect(decide([known(code)], WELL)).toEqual(resolved);
    expect(decide([known(code)], WELL)).toEqual({ ...NOTHING, markWell: [1] });
    const early = known(code, { well_seconds: closesAfterSeconds - 1 });
    expect(decide([early], WELL)).toEqual(NOTHING);
    expect(decide([early], wrong), 'wrong in between').toEqual({ ...NOTHING, markWrong: [1] });
    expect(decide([known(code, { well_seconds: closesAfterSeconds })], WELL)).toEqual(resolved);
  });
});

test('what nobody can say leaves every alert as it is', () => {
  const alerts = [known('sync_failed'), known('stale', { id: 2, is_open: false, noticed_seconds: 1e6 })];
  expect(decide(alerts, findings([], true))).toEqual(NOTHING);
});

test('one resource is no other', () => {
  const other = causeOf('sync_failed', 'referrals');
  expect(decide([known('sync_failed', { resource: 'affiliates' })], findings([other]))).toEqual({
    ...NOTHING,
    notice: [{ cause: other, isToOpen: false }],
    resolve: [1],
  });
});

test('an alert of a newer version is left to that', () => {
  expect(decide([known('moon_is_full')], WELL)).toEqual(NOTHING);
});
