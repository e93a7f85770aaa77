// When an alert opens and when it is resolved: by what is seen, for how long, and by what nobody can say.

import { describe, expect, test } from 'vitest';
import { type AlertCode, RULES } from '../../src/alerts/causes.ts';
import { decide, type KnownAlert } from '../../src/alerts/decide.ts';
import type { Cause, Findings } from '../../src/alerts/find-causes.ts';

const NOTHING = { notice: [], open: [], forget: [], markWell: [], markWrong: [], resolve: [] };

function causeOf(code: AlertCode, resource: string | null = null): Cause {
  return {
    code,
    resource,
    what: 'it is wrong',
    fix: 'affiliate-mirror doctor',
    error_code: null,
    since: null,
  };
}

function known(code: string, more: Partial<KnownAlert> = {}): KnownAlert {
  return { id: 1, code, resource: null, is_open: true, noticed_seconds: 0, well_seconds: null, ...more };
}

const findings = (causes: readonly Cause[], isUndecided = false): Findings => ({
  causes,
  isUndecided: () => isUndecided,
});
const WELL = findings([]);

const codesWhere = (holds: (seconds: { opens: number; closes: number }) => boolean) =>
  (Object.keys(RULES) as AlertCode[]).filter((code) => {
    const { opensAfterSeconds: opens, closesAfterSeconds: closes } = RULES[code];
    return holds({ opens, closes });
  });

describe.each(codesWhere(({ opens }) => opens === 0))('%s', (code) => {
  test('opens at once, and once', () => {
    const cause = causeOf(code);
    expect(decide([], findings([cause]))).toEqual({ ...NOTHING, notice: [{ cause, isToOpen: true }] });
    expect(decide([known(code, { noticed_seconds: 1e6 })], findings([cause]))).toEqual(NOTHING);
  });
});

describe.each(codesWhere(({ opens }) => opens > 0))('%s', (code) => {
  const { opensAfterSeconds } = RULES[code];
  const cause = causeOf(code);

  test('opens once it has held for long enough', () => {
    expect(decide([], findings([cause]))).toEqual({ ...NOTHING, notice: [{ cause, isToOpen: false }] });
    const early = known(code, { is_open: false, noticed_seconds: opensAfterSeconds - 1 });
    expect(decide([early], findings([cause]))).toEqual(NOTHING);
    const late = known(code, { is_open: false, noticed_seconds: opensAfterSeconds });
    expect(decide([late], findings([cause]))).toEqual({ ...NOTHING, open: [{ id: 1, cause }] });
  });

  test('is forgotten where it is well before that', () => {
    expect(decide([known(code, { is_open: false })], WELL)).toEqual({ ...NOTHING, forget: [1] });
  });
});

describe.each(codesWhere(({ closes }) => closes === 0))('%s', (code) => {
  test('is resolved at once', () => {
    expect(decide([known(code)], WELL)).toEqual({ ...NOTHING, resolve: [1] });
  });
});

describe.each(codesWhere(({ closes }) => closes > 0))('%s', (code) => {
  const { closesAfterSeconds } = RULES[code];

  test('is resolved once it was well for long enough', () => {
    expect(decide([known(code)], WELL)).toEqual({ ...NOTHING, markWell: [1] });
    expect(decide([known(code, { well_seconds: closesAfterSeconds - 1 })], WELL)).toEqual(NOTHING);
    expect(decide([known(code, { well_seconds: closesAfterSeconds })], WELL)).toEqual({
      ...NOTHING,
      resolve: [1],
    });
  });

  test('is the same alert where it comes back before that', () => {
    const flapping = known(code, { well_seconds: closesAfterSeconds - 1 });
    expect(decide([flapping], findings([causeOf(code)]))).toEqual({ ...NOTHING, markWrong: [1] });
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
