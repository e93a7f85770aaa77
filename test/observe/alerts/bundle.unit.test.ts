// Which alerts of several programs are one message, and in what order the messages of a channel are sent.

import { expect, test } from 'vitest';
import { bundle } from '../../../src/observe/alerts/bundle.ts';
import type { DueNotice } from '../../../src/observe/alerts/outbox.ts';

/** Returns the messages of one program: `opened stale`, of alert 1 unless another follows. */
function of(name: string, ...notices: (string | Partial<DueNotice>)[]): DueNotice[] {
  const program = { name, mirrorSchema: name } as DueNotice['program'];
  return notices.map((notice, index) => {
    const [kind = '', code = '', alert = String(index)] = typeof notice === 'string' ? notice.split(' ') : [];
    return {
      ...{ id: index, channel: 'webhook', kind: kind as 'opened', alert_id: Number(alert), code },
      ...{ resource: null, error_code: null, tried: null, is_due: true, program },
      ...(typeof notice === 'string' ? {} : notice),
    };
  });
}

const spell = (lists: DueNotice[][]) =>
  bundle(lists).map((notices) =>
    [notices[0]?.kind, notices[0]?.code, ...notices.map(({ program }) => program.name)].join(' '),
  );

test('one cause in several programs is one message, wherever it is in their order', () => {
  const lists = [
    of('acme', 'opened stale', 'opened sync_failed'),
    of('beta', 'opened sync_failed'),
    of('zeta'),
  ];
  expect(spell(lists)).toEqual(['opened stale acme', 'opened sync_failed acme beta']);
});

test('an alert is not resolved before it was opened', () => {
  const lists = [of('acme', 'resolved stale 1'), of('beta', 'opened stale 1', 'resolved stale 1')];
  expect(spell(lists)).toEqual(['resolved stale acme', 'opened stale beta', 'resolved stale beta']);
});

test('another resource, another error and another program of the same alert twice are messages of their own', () => {
  const cause = { kind: 'opened', code: 'sync_failed' } as const;
  const lists = [
    of(
      'acme',
      { ...cause, resource: 'sales' },
      { ...cause, resource: 'links' },
      { ...cause, resource: 'sales' },
    ),
    of('beta', { ...cause, resource: 'sales', error_code: 'API_UNAVAILABLE' }),
  ];
  expect(bundle(lists).map(({ length }) => length)).toEqual([1, 1, 1, 1]);
});

test('what was tried as one stays one, without what came later', () => {
  const tried = { kind: 'opened', code: 'stale', tried: '2026-11-22 02:14:07.5+00' } as const;
  const lists = [of('acme', tried), of('beta', 'opened stale'), of('zeta', tried)];
  expect(spell(lists)).toEqual(['opened stale acme zeta', 'opened stale beta']);
});

test('what follows a message that is not due waits for it, in its program', () => {
  const lists = [
    of('acme', { kind: 'opened', code: 'stale', is_due: false }, 'opened sync_failed'),
    of('beta', 'opened sync_failed'),
  ];
  expect(spell(lists)).toEqual(['opened sync_failed beta']);
});
