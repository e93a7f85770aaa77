// What messages say, and that the page for people says the same.

import { describe, expect, onTestFinished, test } from 'vitest';
import { setDisplayZone } from '../../../src/contract/time-zone.ts';
import { toText } from '../../../src/observe/alerts/email.ts';
import { describeNotices } from '../../../src/observe/alerts/message.ts';
import type { ClaimedNotice } from '../../../src/observe/alerts/outbox.ts';
import { RULES } from '../../../src/observe/alerts/rules.ts';
import { pauseMs } from '../../../src/observe/alerts/send-due.ts';
import { ALERT_TIMINGS } from '../../../src/observe/alerts/timings.ts';
import { toSlack } from '../../../src/observe/alerts/webhook.ts';
import { BLOCKS, readTable } from '../../support/read-docs.ts';

const PAGE = 'docs/alerts.md';

const program = {
  name: null,
  mirrorSchema: 'mirror',
  ...({} as Pick<ClaimedNotice['program'], 'db' | 'log'>),
};

const NOTICE: ClaimedNotice = {
  program,
  id: 1,
  kind: 'opened',
  attempts: 1,
  age_ms: 0,
  uid: '7b8e9a52-0000-4000-8000-000000000000',
  alert_id: 12,
  code: 'sync_failed',
  resource: 'referrals',
  what: 'the last sync of referrals failed',
  fix: 'affiliate-mirror doctor',
  error_code: 'API_UNAVAILABLE',
  since: '2026-11-22T02:14:07.123456Z',
  resolved_at: null,
  database: 'analytics',
  opened_state: null,
};

const RESOLVED: ClaimedNotice = { ...NOTICE, kind: 'resolved', resolved_at: '2026-11-22T02:31:40Z' };

type Notices = [ClaimedNotice, ...ClaimedNotice[]];

const slackText = (...notices: Notices) => (toSlack(describeNotices(notices)) as { text: string }).text;

/** Returns an alert of each listed program. */
const of = (...names: string[]) =>
  names.map((name, index) => ({
    ...NOTICE,
    uid: `${index}`,
    program: { ...program, name, mirrorSchema: `mirror_${name}` },
  })) as Notices;

describe('the page on alerts', () => {
  test('names every cause with its waits', () => {
    const rows = readTable(PAGE, 'What you are notified of', [
      ...['code', 'opens after', 'closes after', 'what to run'],
    ]);
    expect(rows.map((row) => row.slice(0, 3))).toEqual(
      Object.entries(RULES).map(([code, { opensAfterSeconds, closesAfterSeconds }]) => [
        `\`${code}\``,
        inWords(opensAfterSeconds),
        inWords(closesAfterSeconds),
      ]),
    );
  });

  test('shows the messages as they are', () => {
    const shown = BLOCKS.filter(({ page, text }) => page === PAGE && text.startsWith('affiliate-mirror: '));
    const messages: Notices[] = [[NOTICE], [RESOLVED], of('zeta', 'acme', 'beta')];
    expect(shown.map(({ text }) => text)).toEqual(messages.map((notices) => `${slackText(...notices)}\n`));
  });
});

test('a chat shows what is written, whatever the names of the database and the schema', () => {
  const slack = toSlack(describeNotices([{ ...NOTICE, database: '<!channel> & <https://evil.test|here>' }]));
  expect(JSON.stringify(slack)).not.toContain('<');
  expect(JSON.stringify(slack)).toContain('&lt;!channel&gt; &amp; &lt;https://evil.test|here&gt;');
});

test('an e-mail is plain text, aligned', () => {
  expect(toText(describeNotices([NOTICE]))).toBe(
    [
      'The last sync of referrals failed.',
      '',
      'Since:       2026-11-22 02:14:07 UTC',
      'Error:       API_UNAVAILABLE: The API answered 5xx or 408. Tried again like API_UNREACHABLE.',
      'Run:         affiliate-mirror doctor',
      "If it stays: ask the API's operator when it is back: a worker goes on by itself then",
      'Mirror:      schema mirror of the database analytics',
      'Alert:       12 (sync_failed)',
      '',
    ].join('\n'),
  );
});

test('a message has its times in the display zone', () => {
  onTestFinished(() => setDisplayZone('UTC'));
  setDisplayZone('Europe/Berlin');
  expect(toText(describeNotices([RESOLVED]))).toMatch(
    /From: +2026-11-22 03:14:07 \+01:00\nUntil: +2026-11-22 03:31:40 \+01:00\n/,
  );
});

test('what a newer version noticed is sent with what is known of it', () => {
  const { facts } = describeNotices([{ ...NOTICE, code: 'of_later', error_code: 'LATER' }]);
  expect(facts.map(([label]) => label)).toEqual(['Since', 'Error', 'Run', 'Mirror', 'Alert']);
  expect(facts).toContainEqual(['Error', 'LATER']);
});

test('that it is well again follows the message that it was not, under a key of its own', () => {
  const [opened, resolved] = [describeNotices([NOTICE]), describeNotices([RESOLVED])];
  expect(opened.follows).toBe(null);
  expect(resolved.follows).toBe(opened.key);
  expect(resolved.key).not.toBe(opened.key);
});

describe('a message about listed programs', () => {
  const factsOf = (notices: Notices) => new Map(describeNotices(notices).facts);

  test('names the one, and the command for it', () => {
    expect(describeNotices(of('acme')).title).toBe('acme: the last sync of referrals failed');
    const facts = factsOf(of('acme'));
    expect(facts.get('Run')).toBe('affiliate-mirror doctor --program acme');
    expect(facts.get('Mirror')).toBe('schema mirror_acme of the database analytics');
  });

  test('counts many in its title, and no receiver refuses it for its length', () => {
    const names = Array.from({ length: 100 }, (_, index) => `program-with-a-long-name-${index}`);
    const { title } = describeNotices(of(...names));
    expect(title).toBe('100 programs: the last sync of referrals failed');
    expect(factsOf(of(...names)).get('Programs')).toMatch(/^100: program-.* and \d+ more$/);
    expect(slackText(...of(...names)).length).toBeLessThan(3000);
  });

  test('says no number that is of one of them', () => {
    const [first, second] = of('acme', 'beta');
    const more: Notices = [first, { ...(second ?? first), what: 'another number' }];
    expect(describeNotices(more).title).toBe('acme, beta: sync failed (referrals)');
  });

  test('has the same key for the same alerts, and another one for others', () => {
    const [a, b, c] = of('acme', 'beta', 'zeta') as [ClaimedNotice, ClaimedNotice, ClaimedNotice];
    const key = (...notices: Notices) => describeNotices(notices).key;
    expect(key(a, b)).toBe(key(b, a));
    expect(new Set([key(a, b), key(a, b, c), key(a), key(b)]).size).toBe(4);
  });
});

describe('the wait before the next attempt', () => {
  test.each([
    [1, null, 5_000, 10_000],
    [2, null, 10_000, 20_000],
    [9, null, 1_280_000, 2_560_000],
    [500, null, 1_800_000, 3_600_000],
    [1, 120_000, 120_000, 120_000],
    [1, 0, 1000, 1000],
    [1, 9e9, 3_600_000, 3_600_000],
  ])('after attempt %s, where the receiver asks for %s', (attempts, retryAfterMs, least, most) => {
    expect(pauseMs(attempts, retryAfterMs, ALERT_TIMINGS, () => 1)).toBe(least);
    expect(pauseMs(attempts, retryAfterMs, ALERT_TIMINGS, () => 0)).toBe(most);
  });
});

test('a message has failed long before its claim ends', () => {
  const { claimMs, sendTimeoutMs } = ALERT_TIMINGS;
  expect(claimMs).toBeGreaterThan(5 * sendTimeoutMs);
});

function inWords(seconds: number): string {
  if (seconds === 0) return 'at once';
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : `${seconds / 60} min`;
}
